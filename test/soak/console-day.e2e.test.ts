/** A day of 55,000 pushes with failures of eight kinds is cleared through the console alone. */
import type { Page } from 'puppeteer-core';
import { matterModel } from '../../src/storage/ledger/matters';
import { complaintsOf, fillIn, fixPush, goTo, press, textOf } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { PLANTED, pushDay } from '../support/planted-day';
import type { Service } from '../support/service';
import { until } from '../support/wait';

const PUSHES = 55_000;
/** Of a day, whatever the hour in which the test runs. */
const RANGE = 'range=week&lang=en';

inConsole('a day in the console', { env: { PORTAL_TIME_ZONE: 'UTC' } }, ({ service, entered }) => {
  test('is cleared: no open failure is left', async () => {
    const between = await pushDay(service(), PUSHES);
    const opened = await entered();
    const { page } = opened;
    await goTo(page, `#/failures?${RANGE}`, '.groups');
    expect(await stillFailedIn(page)).toEqual({
      // A matter that was never created is in the group of its rejected upsert.
      'VALIDATION_FAILED title':
        PLANTED.emptyTitle + PLANTED.statusWithoutMatter + PLANTED.aroundRange,
      'VALIDATION_FAILED bizStatus': PLANTED.lowerCaseStatus,
      'UNKNOWN_USER parties[].username': PLANTED.unknownUser,
      'MATTER_NOT_FOUND –': PLANTED.wrongId,
      'INVALID_JSON –': PLANTED.notJson,
      'CLIENT_PAUSED –': PLANTED.paused,
      'CONFIRMATION_TIMEOUT –': PLANTED.timedOut,
    });
    await fixOneByOne(page);
    // The range shows one of its two pushes; the preview has both.
    const after = `range=custom&from=${new Date(between).toISOString().slice(0, 19)}&lang=en`;
    await setForAll(page, 'MATTER_NOT_FOUND', '-', 'Approval around a range', after);
    await setForAll(page, 'VALIDATION_FAILED', 'title', 'Approval without a title');
    await setForAll(page, 'VALIDATION_FAILED', 'bizStatus', 'DONE');
    await setForAll(page, 'UNKNOWN_USER', 'parties[].username', 'bob');
    await sendAgain(page, 'CLIENT_PAUSED');
    await sendAgain(page, 'CONFIRMATION_TIMEOUT');
    await goTo(page, `#/failures?${RANGE}&n=last`, '.inbox.empty');
    expect(await textOf(page, '.inbox')).toContain('No open failures in this range.');
    await goTo(page, `#/overview?${RANGE}`, '#tile-stillFailed');
    expect(await textOf(page, '#tile-stillFailed .number')).toBe('0');
    expect(complaintsOf(opened)).toEqual([]);
    await isInLedger(service());
  });
  return undefined;
});

/** How many matters still failed, by reason and field. */
async function stillFailedIn(page: Page): Promise<Record<string, number>> {
  await page.waitForFunction(
    `/^[\\d,]+ matters$/.test(document.querySelector('.count').textContent)`,
  );
  const rows = await page.$$eval('.groups tbody tr', (all) =>
    all.map((row) => [
      `${row.querySelector('th code.quiet')?.textContent} ${row.querySelector('th a code')?.textContent ?? '–'}`,
      Number(row.querySelector('.still')?.textContent),
    ]),
  );
  return Object.fromEntries(rows);
}

/** Pushes with a problem of their own: each is fixed in its form. */
async function fixOneByOne(page: Page): Promise<void> {
  const mistakes: [reason: string, rows: string, from: RegExp, to: string][] = [
    ['INVALID_JSON', '', /,\s*\}$/, '}'],
    ['MATTER_NOT_FOUND', 'DAY-O', /DAY-O/, 'DAY-'],
  ];
  for (const [reason, named, from, to] of mistakes) {
    await goTo(page, `#/failures?reason=${reason}&field=-&${RANGE}`, '.group .table');
    const links = await page.$$eval(
      '.table .space .row',
      (rows, name) =>
        rows
          .filter((row) => row.querySelector('.matter')?.textContent?.startsWith(name))
          .map((row) => row.querySelector('.act a')?.getAttribute('href') ?? ''),
      named,
    );
    expect(links).toHaveLength(2);
    for (const link of links) {
      await goTo(page, link, '.fix[open] textarea');
      await fixPush(page, (body) => body.replace(from, to));
    }
  }
}

/** The group of a reason, with all of it selected. */
async function openGroup(page: Page, reason: string, field: string, range = RANGE): Promise<void> {
  await goTo(
    page,
    `#/failures?reason=${reason}&field=${encodeURIComponent(field)}&${range}`,
    '.group .table',
  );
  await page.waitForFunction(
    `/^[\\d,]+ matters$/.test(document.querySelector('.count').textContent)`,
  );
  await press(page, '#select-all');
}

async function agree(page: Page): Promise<void> {
  await press(page, '#send');
  await page.waitForSelector('#done');
  expect(await textOf(page, '#done')).toMatch(/^Done: [\d,]+ resent, 0 failed\.$/);
  await press(page, '#look-again');
  await page.waitForSelector('.empty');
}

async function sendAgain(page: Page, reason: string): Promise<void> {
  await openGroup(page, reason, '-');
  await press(page, '#plan');
  await agree(page);
}

/** If the group has no field, the preview names it. */
async function setForAll(
  page: Page,
  reason: string,
  field: string,
  value: string,
  range = RANGE,
): Promise<void> {
  await openGroup(page, reason, field, range);
  if (field === '-') await press(page, '#plan');
  await page.waitForSelector('#set-value');
  await fillIn(page, '#set-value', value);
  await press(page, '.set button[type="submit"]');
  await agree(page);
}

async function isInLedger({ db }: Service): Promise<void> {
  const matters = matterModel(db);
  const of = (externalId: string) => matters.findOne({ externalId }).lean();
  expect(await of('EMPTY-7')).toMatchObject({ title: 'Approval without a title' });
  expect(await of('LOWER-7')).toMatchObject({ bizStatus: 'DONE' });
  const parties = [{ username: 'alice' }, { username: 'bob' }];
  expect(await of('USER-7')).toMatchObject({ parties });
  expect(await of('AROUND')).toMatchObject({ title: 'Approval around a range', bizStatus: 'DONE' });
  // What was pushed after it took effect after it.
  expect(await of('ORDER-7')).toMatchObject({
    title: 'Approval without a title',
    bizStatus: 'DONE',
  });
  expect(await of('DAY-1')).toMatchObject({ bizStatus: 'DONE' });
  await until(
    'all of them',
    async () => (await of('LATE-9')) !== null && (await of('PAUSED-2')) !== null,
  );
}
