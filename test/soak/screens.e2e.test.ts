/**
 * Every screen, in both languages, wide and narrow: axe finds nothing, nothing has to be scrolled sideways, and
 * no word is of the other language. `npm run screenshots -- <folder>` keeps what is seen.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { axeFindings, tooWide } from '../support/axe';
import { chooseFile, fillIn, goTo, press } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { differingFile, plantDayBefore } from '../support/day-before';
import { zoneFarFromMidnight } from '../support/midnight';

const PUSHES = 2_000;
/** Pixels of a picture: longer pages are cut. */
const TALLEST = 2_600;
const { SCREENSHOTS, SCREENSHOT_FONTS } = process.env;
/** The screens show the pushes of yesterday. */
const ZONE = zoneFarFromMidnight();

const OPTIONS = {
  metrics: true,
  env: { PORTAL_TIME_ZONE: ZONE },
  fonts: SCREENSHOT_FONTS ? [SCREENSHOT_FONTS] : [],
};

inConsole('every screen', OPTIONS, ({ url, insideUrl, load, visit, entered }) => {
  let failed: string;
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-screens-'));
  const file = join(folder, 'matters.csv');
  const pictures = SCREENSHOTS || folder;
  afterAll(() => rmSync(folder, { recursive: true }));

  const CASES = ['light', 'dark'].flatMap((scheme) =>
    ['zh', 'en'].flatMap((lang) => [1280, 390].map((width) => ({ scheme, lang, width }))),
  );
  test.each(CASES)('in $scheme, $lang, $width pixels wide', async (look) => {
    const { scheme, lang, width } = look;
    const flaws: unknown[] = [];
    const seen = async (page: Page, name: string) => {
      // Chinese words of the data are no words of the page.
      flaws.push(...(await flawsOf(page)).map((flaw) => [name, flaw]));
      await shoot(page, join(pictures, `${name}-${lang}-${width}-${scheme}.png`));
    };
    const dress = async (page: Page) => {
      await page.setViewport({ width, height: 800 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    };
    const { page: entrance } = await visit(`#/overview?lang=${lang}`);
    await dress(entrance);
    await entrance.waitForSelector('.entrance');
    await seen(entrance, 'entrance');
    await entrance.close();

    const { page } = await entered();
    await dress(page);
    for (const [name, fragment, ready, act] of screens(failed, file)) {
      await goTo(page, `#/${fragment}&lang=${lang}`, ready);
      await page.waitForFunction(`document.documentElement.lang.startsWith('${lang}')`);
      await act?.(page);
      await settled(page);
      await seen(page, name);
    }
    await page.close();

    const others = [
      ['docs', `${url()}/docs?lang=${lang}`, '#errors'],
      ['operator', `${insideUrl()}/#/?lang=${lang}`, '.clients tbody tr'],
    ] as const;
    for (const [name, address, ready] of others) {
      const { page: other } = await load(address);
      await dress(other);
      await other.waitForSelector(ready);
      await seen(other, name);
      await other.close();
    }
    expect(flaws).toEqual([]);
  });

  return async (service) => {
    failed = await plantDayBefore(service, PUSHES, ZONE);
    writeFileSync(file, differingFile());
    mkdirSync(pictures, { recursive: true });
  };
});

type Screen = readonly [
  name: string,
  fragment: string,
  ready: string,
  act?: (page: Page) => Promise<void>,
];
const RANGE = 'range=yesterday';

const screens = (failed: string, file: string): readonly Screen[] => [
  ['overview', `overview?${RANGE}`, '.tiles'],
  ['failures', `failures?${RANGE}`, '.groups'],
  ['failures-plan', `failures?${RANGE}&reason=VALIDATION_FAILED&field=title`, '#select-all', plan],
  ['pushes', `pushes?${RANGE}`, '.pushes .table .row[data-index]'],
  ['push', `push?${RANGE}&id=${failed}`, '.push .facts'],
  ['push-fix', `push?${RANGE}&id=${failed}&fix=1`, '#fix-body', verify],
  ['matters', `matters?${RANGE}`, '.matters .row[data-index]'],
  ['matter', `matter?${RANGE}&externalId=OA-2026-000`, '.matter .facts'],
  ['reconcile', `reconcile?${RANGE}`, '#reconcile-file'],
  [
    'reconcile-columns',
    `reconcile?${RANGE}&n=1`,
    '#reconcile-file',
    (page) => chooseFile(page, file),
  ],
  ['reconcile-outcome', `reconcile?${RANGE}&n=2`, '#compare', compare],
  ['setup', `setup?${RANGE}`, '.setup .facts'],
  ['help', `help?${RANGE}`, '.help .card'],
];

async function plan(page: Page): Promise<void> {
  await press(page, '#select-all');
  await fillIn(page, '#set-value', 'Approve');
  await press(page, '.set button[type="submit"]');
  await page.waitForSelector('#send');
}

async function verify(page: Page): Promise<void> {
  await press(page, '.fix button[type="submit"]');
  await page.waitForSelector('.fix .verdict.bad');
}

async function compare(page: Page): Promise<void> {
  await press(page, '#compare');
  await page.waitForSelector('.kinds');
  await press(page, '#tick-all');
  await press(page, '#try-ticked');
  await page.waitForSelector('.ended');
}

/** Nothing is waited for any more. */
const settled = (page: Page) =>
  page.waitForFunction(
    `!document.querySelector('main [aria-busy="true"], main .waiting, main .progress')`,
  );

/** What axe finds, and by how much the page is too wide. */
async function flawsOf(page: Page): Promise<unknown[]> {
  const found = await axeFindings(page);
  const wide = await tooWide(page);
  const covered = (await page.evaluate(COVERED)) as string[];
  return [...found, ...covered, ...(wide === 0 ? [] : [`${wide} pixels too wide`])];
}

/** Cells of a table that stand over one another, or over the next row: its rows have one height. */
const COVERED = `[...document.querySelectorAll('.table .row[data-index]')].flatMap((row) => {
  const { bottom } = row.getBoundingClientRect();
  const cells = [...row.children].map((cell) => [cell, cell.getBoundingClientRect()]);
  const shown = cells.filter(([, { width, height }]) => width > 0 && height > 0);
  const isOver = ([, a], [, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return shown
    .filter((it, at) => it[1].bottom > bottom + 1 || shown.slice(at + 1).some((b) => isOver(it, b)))
    .map(([cell]) => 'covered: ' + cell.textContent);
}).slice(0, 3)`;

async function shoot(page: Page, path: string): Promise<void> {
  const width = page.viewport()?.width ?? 0;
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
  const clip = { x: 0, y: 0, width, height: Math.min(height, TALLEST) };
  await page.screenshot({ path: path as `${string}.png`, clip, captureBeyondViewport: true });
}
