/** The console's overview in a browser: two days of which every number is known, and the ledger. */
import pino from 'pino';
import { dayAt, hourAt } from '../../src/protocol/local-day';
import { resultOf } from '../../src/storage/push-log';
import { createPushCounts } from '../../src/storage/push-log/counts';
import { entryModel, type LogEntry } from '../../src/storage/push-log/entry';
import { press, textOf } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { seedLedger } from '../support/ledger-seed';
import { aLogEntry } from '../support/log-entries';
import type { Service } from '../support/service';

const ZONE = 'Asia/Shanghai';
const HOUR = 3_600_000;
/** It is over, and so is the day before it. */
const THE_DAY = dayAt(Date.now() - 48 * HOUR, ZONE);
const DAY_BEFORE = dayAt(THE_DAY.start - HOUR, ZONE);
const DAY_AFTER = dayAt(THE_DAY.end, ZONE).date;

/** How many pushes ended how, in which hour. */
const COUNTED: readonly (readonly [day: number, hour: number, result: string, pushes: number])[] = [
  [THE_DAY.start, 9, 'CREATED', 40],
  [THE_DAY.start, 9, 'UPDATED', 5],
  [THE_DAY.start, 9, 'REPLAYED', 3],
  [THE_DAY.start, 9, 'VALIDATION_FAILED', 6],
  [THE_DAY.start, 14, 'CREATED', 20],
  [THE_DAY.start, 14, 'STALE_IGNORED', 2],
  [THE_DAY.start, 14, 'UNKNOWN_USER', 4],
  [THE_DAY.start, 14, 'SIGNATURE_MISMATCH', 1],
  [DAY_BEFORE.start, 0, 'CREATED', 10],
  [DAY_BEFORE.start, 23, 'VALIDATION_FAILED', 2],
];

async function plantCounts({ db }: Service): Promise<void> {
  const logger = pino({ level: 'silent' });
  const counts = createPushCounts(db, { logger, hourOf: (at) => hourAt(at, ZONE) });
  for (const [day, hour, result, pushes] of COUNTED) {
    const who = { clientId: 'tester', systemCode: 'TEST', operation: 'upsert' };
    counts.ended({ ...who, result, receivedAt: day + hour * HOUR }, 20, pushes);
  }
  await counts.stop();
}

/** Failed ones, one of which is mended, and ones that wait, of those the last two from now on: no worker ends them. */
async function plantLog({ db }: Service): Promise<void> {
  const entry = (at: number, externalId: string, more: Partial<LogEntry>) =>
    aLogEntry({ externalId, ...more }, at);
  const failed = resultOf({ state: 'REFUSED', reason: 'VALIDATION_FAILED' });
  const written = { state: 'PERSISTED', result: 'CREATED' } as const;
  const noon = THE_DAY.start + 12 * HOUR;
  await entryModel(db).insertMany([
    ...['F-1', 'F-2', 'MENDED'].map((id, n) => entry(noon + n, id, failed)),
    entry(noon + HOUR, 'MENDED', written),
    entry(noon, 'LOST', {}),
    ...['W-1', 'W-2'].map((id, n) => entry(Date.now() + HOUR + n, id, {})),
    entry(DAY_BEFORE.start, 'F-0', failed),
  ]);
}

/** A pause of 30 s takes a tenth of one, and counts that are asked for take one: at most two at a time. */
const SLOW = `(() => {
  const { setTimeout: later, setInterval: every, fetch: ask } = window;
  const shorter = (ms) => (ms === 30_000 ? 100 : ms);
  window.looks = 0;
  window.setTimeout = (work, ms, ...more) => later(work, shorter(ms), ...more);
  window.setInterval = (work, ms, ...more) => every(work, shorter(ms), ...more);
  window.fetch = async (url, how) => {
    if (String(url).includes('push-logs/stats')) {
      window.looks += 1;
      await new Promise((passed) => later(passed, 1_000));
    }
    return ask(url, how);
  };
})()`;

inConsole('the overview in a browser', { workers: 0 }, ({ open }) => {
  const range = `range=custom&from=${THE_DAY.date}T00:00&to=${DAY_AFTER}T00:00`;
  const overview = () => open(`#/overview?${range}&lang=en`, '#tile-received .number');

  test('the cards show their change against the day before, and the card of failures leads to them', async () => {
    const page = await overview();
    const tiles = await page.$$eval('.tiles li', (all) =>
      all.map((it) => [
        it.id,
        it.querySelector('.number')?.textContent,
        it.querySelector('.before')?.textContent,
        it.querySelector('.action a')?.textContent ?? '',
        it.querySelector('.action a')?.getAttribute('href')?.split('?')[0] ?? '',
      ]),
    );
    expect(tiles).toEqual([
      ['tile-received', '81', '+575 % The day before: 12', 'View pushes', '#/pushes'],
      ['tile-written', '70', '+600 % The day before: 10', '', ''],
      ['tile-stillFailed', '2', '+100 % The day before: 1', 'Fix 2', '#/failures'],
      ['tile-waiting', '2', null, '', ''],
    ]);
  });

  test('a range that begins and ends within an hour is counted to the minute, in the tiles and in the bars', async () => {
    const within = `range=custom&from=${THE_DAY.date}T09:01&to=${THE_DAY.date}T14:20`;
    const page = await open(`#/overview?${within}&lang=en`, '.bars svg g');
    expect(await textOf(page, '#tile-received .number')).toBe('27');
    expect(await textOf(page, '#tile-received .before')).toBe('+27 The day before: 0');
    const rows = await page.$$eval('.chart tbody tr', (all) => all.map((it) => it.textContent));
    expect(rows).toHaveLength(6);
    expect([rows[0], rows[5]]).toEqual([
      expect.stringMatching(/09:00000$/),
      expect.stringMatching(/14:002025$/),
    ]);
  });

  test('a look that takes longer than the pause between two of them is shown, and the next one begins after it', async () => {
    const page = await overview();
    await page.evaluateOnNewDocument(SLOW);
    await page.reload();
    await page.waitForSelector('#tile-received .number');
    await page.waitForFunction('window.looks > 4');
    expect(await textOf(page, '#tile-received .number')).toBe('81');
  });

  test('a bar stands for each hour, as high as its pushes of each outcome; the same is a table', async () => {
    const page = await overview();
    await page.waitForSelector('.bars svg g');
    const bars = await page.$$eval('.bars svg g', (all) =>
      all.map((bar) =>
        ['written', 'unchanged', 'failed'].map((kind) =>
          Number(bar.querySelector(`.${kind}`)?.getAttribute('height')),
        ),
      ),
    );
    expect(bars).toHaveLength(24);
    // In hundredths of the axis, whose last mark is the first one above the 54 pushes of an hour.
    const heights = (...pushes: number[]) => pushes.map((it) => expect.closeTo((100 * it) / 60, 5));
    for (const [hour, bar] of bars.entries()) {
      const known: Record<number, number[]> = { 9: [45, 3, 6], 14: [20, 2, 5] };
      expect([hour, bar]).toEqual([hour, heights(...(known[hour] ?? [0, 0, 0]))]);
    }
    expect(await page.$$eval('.axis span', (all) => all.map((it) => it.textContent))).toEqual([
      ...['60', '40', '20', '0'],
    ]);
    expect(await page.$$('.bars .grid')).toHaveLength(3);
    const rows = await page.$$eval('.chart tbody tr', (all) =>
      all.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent ?? '')),
    );
    expect(rows).toHaveLength(24);
    const inWords = rows.filter(([, ...cells]) => cells.some((cell) => cell !== '0'));
    expect(inWords).toEqual([
      [expect.stringMatching(/09:00$/), '45', '3', '6'],
      [expect.stringMatching(/14:00$/), '20', '2', '5'],
    ]);
  });

  test('reasons stand in words, the most frequent first, and lead to their pushes', async () => {
    const page = await overview();
    await page.waitForSelector('.reasons li');
    const reasons = await page.$$eval('.reasons li', (all) =>
      all.map((it) => [
        it.querySelector('a')?.textContent,
        it.querySelector('.count')?.textContent,
        it.querySelector('a')?.getAttribute('href') ?? '',
      ]),
    );
    expect(reasons).toEqual([
      ['Invalid fields', '6', expect.stringMatching(/^#\/failures\?.*VALIDATION_FAILED/)],
      ['Unknown or disabled user', '4', expect.stringMatching(/^#\/failures\?.*UNKNOWN/)],
      // Anybody can cause these: they are no failures of the system's own.
      ['Wrong signature', '1', expect.stringMatching(/^#\/pushes\?.*view=refused/)],
    ]);
    for (const [, , href] of reasons) expect(href).toContain(`from=${THE_DAY.date}`);
  });

  test('the ledger is counted by type and state once somebody asks for it', async () => {
    const page = await overview();
    expect(await page.$('.ledger table')).toBeNull();
    await press(page, '.ledger button');
    await page.waitForSelector('.ledger table');
    const rows = await page.$$eval('.ledger tr', (all) =>
      all.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent)),
    );
    expect(rows).toEqual([
      ['Business type', 'Open', 'Concluded', 'Total'],
      ['leave', '4', '3', '7'],
      ['(no type)', '2', '0', '2'],
      ['Total', '6', '3', '9'],
    ]);
  });

  return async (service) => {
    await plantCounts(service);
    await plantLog(service);
    await seedLedger(service.db, 7, (n) => {
      const phase = n < 3 ? 'CONCLUDED' : 'OPEN';
      return { externalId: `L-${n}`, bizType: 'leave', phase };
    });
    await seedLedger(service.db, 2, (n) => ({
      externalId: `N-${n}`,
      bizType: null,
      phase: 'OPEN',
    }));
  };
});
