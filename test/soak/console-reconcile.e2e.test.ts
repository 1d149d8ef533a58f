/** The console's reconciliation in a browser, against real servers: what differs is found and mended through it alone. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { toFullUpsert } from '../../src/domain/full-upsert';
import type { Matter } from '../../src/domain/matter';
import { nativeCollection } from '../../src/infra/mongo';
import { matterModel } from '../../src/storage/ledger/matters';
import { axeFindings } from '../support/axe';
import { aParty } from '../support/builders';
import { type ConsoleKey, makeConsoleKey } from '../support/console-key';
import { chooseFile, fillIn, press, shows, textOf } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { seedLedger } from '../support/ledger-seed';

const WAIT_MS = 120_000;
const STAMP = Date.UTC(2026, 0, 5, 2);
const HOUR = 3_600_000;

/** As a service has them that is told nothing: keys are slowed down to their rate here. */
const RATES = { QUERY_KEY_RATE: '20' };
/** A browser tells of every answer with 429; the page waits as long as that says, and asks again. */
const isFault = (complaint: string) => !complaint.includes('status of 429');

/** What was saved, in place of a folder of downloads. */
const CATCH_REPORT = `
  const create = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    blob.text().then((text) => { document.documentElement.dataset.report = text; });
    return create.call(URL, blob);
  };
`;

interface Scrolled {
  /** Places at which a row was missing once they were drawn. */
  readonly holes: number[];
  /** Rows in the document at a time. */
  readonly most: number;
  /** Milliseconds from a scroll to its second frame. */
  readonly longest: number;
}

/** In 400 steps to the end, each looked at from edge to edge. */
const SCROLL_ALONG = `(async () => {
  const box = document.querySelector('.reconcile .scroller');
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const seen = { holes: [], most: 0, longest: 0 };
  const steps = 400;
  for (let step = 0; step <= steps; step += 1) {
    const begun = performance.now();
    box.scrollTop = ((box.scrollHeight - box.clientHeight) * step) / steps;
    await frame();
    await frame();
    seen.longest = Math.max(seen.longest, Math.round(performance.now() - begun));
    const edges = box.getBoundingClientRect();
    const rows = [...box.querySelectorAll('.row')].map((row) => row.getBoundingClientRect());
    rows.sort((a, b) => a.top - b.top);
    const isWhole =
      rows.length > 0 &&
      rows[0].top <= edges.top + 2 &&
      rows[rows.length - 1].bottom >= edges.bottom - 2 &&
      rows.every((row, at) => at === 0 || Math.abs(row.top - rows[at - 1].bottom) < 2);
    if (!isWhole) seen.holes.push(step);
    seen.most = Math.max(seen.most, rows.length);
  }
  return seen;
})()`;

inConsole('the reconciliation in a browser', { env: RATES, isFault }, ({ service, visit }) => {
  const folder = mkdtempSync(join(tmpdir(), 'console-reconcile-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => matters().deleteMany({}));
  // A client has few keys at a time.
  afterEach(() =>
    service()
      .db.collection('clients')
      .updateMany({}, { $set: { queryKeys: [] } }),
  );

  const matters = () => nativeCollection(matterModel(service().db));
  const write = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  /** Enters with a key, and goes to the screen. */
  async function enter(language = 'en', ...options: string[]): Promise<Page> {
    return enterWith(await makeConsoleKey(service(), ...options), language);
  }

  /** Typed in, so that no other screen is opened before. */
  async function enterWith(key: Pick<ConsoleKey, 'clientId' | 'key'>, language = 'en') {
    const { page } = await visit(`#/reconcile?lang=${language}`);
    page.setDefaultTimeout(WAIT_MS);
    await fillIn(page, '#client', key.clientId);
    await fillIn(page, '#key', key.key);
    await press(page, '.entrance button.main');
    await page.waitForSelector('#reconcile-file');
    return page;
  }

  async function compare(page: Page): Promise<void> {
    await press(page, '#compare');
    await page.waitForSelector('.outcome, .failure');
  }

  /** How many differ, by the names of the tiles. */
  const tilesOf = (page: Page) =>
    page.$$eval('.kinds button', (all) =>
      Object.fromEntries(
        all.map((it) => [
          it.getAttribute('data-kind') || 'ALL',
          Number(it.querySelector('.number')?.textContent?.replace(',', '')),
        ]),
      ),
    );

  /** The steps: the current one with a star, one that cannot be reached with a minus. */
  const stepsOf = (page: Page) =>
    page.$$eval('[data-step]', (all) =>
      all.map((it) => {
        const isCurrent = it.getAttribute('aria-current') === 'step';
        return `${it.textContent}${isCurrent ? '*' : it.hasAttribute('disabled') ? '-' : ''}`;
      }),
    );

  /** Waits until the heading of a step has the focus. */
  const focusIsAt = (page: Page, heading: string) =>
    page.waitForFunction(
      `document.activeElement.tagName === 'H2' && document.activeElement.textContent === '${heading}'`,
    );

  const sendAll = async (page: Page) => {
    await press(page, '#tick-all');
    await press(page, '#try-ticked');
    await page.waitForSelector('.ended');
    const tried = await textOf(page, '.ended');
    await press(page, '#send-ticked');
    await page.waitForFunction(
      `document.querySelector('.ended') && document.querySelector('.ended').textContent !== ${JSON.stringify(tried)}`,
    );
    return [tried, await textOf(page, '.ended')];
  };

  test('50 planted differences of all kinds among 3,000 matters are found and mended, and nothing differs then', async () => {
    const all = await seedLedger(service().db, 3_000, (n) => ({
      externalId: `PR-${n}`,
      title: `采购申请 ${n}`,
      bizType: n % 3 === 0 ? 'purchase' : 'leave',
      sourceUpdatedAt: STAMP + (n % 20) * 24 * HOUR,
      parties: [aParty('alice', 'ASSIGNEE'), aParty('bob', 'CC')],
    }));
    const lines = all.map((matter: Matter) => ({
      op: 'upsert',
      body: toFullUpsert(matter, (at) => new Date(at).toISOString()),
    }));
    const change = (n: number, $set: object) =>
      matters().updateOne({ externalId: `PR-${n}` }, { $set });
    const gone = { deleted: true, phase: 'DELETED', deletedAt: new Date() };
    const deletes: object[] = [];
    for (let n = 0; n < 50; n += 1) {
      const kind = n % 6;
      if (kind === 0) await matters().deleteOne({ externalId: `PR-${n}` });
      if (kind === 1) await change(n, gone);
      if (kind === 2) {
        const sourceUpdatedAt = new Date(STAMP + 30 * 24 * HOUR).toISOString();
        deletes.push({ op: 'delete', body: { externalId: `PR-${n}`, sourceUpdatedAt } });
      }
      if (kind === 3) await change(n, { sourceUpdatedAt: new Date(STAMP - HOUR) });
      if (kind === 4) await change(n, { bizStatus: 'DONE', phase: 'CONCLUDED' });
      if (kind === 5) await change(n, { title: '<b>=1+1</b>', parties: [] });
    }
    const text = [...lines, ...deletes].map((line) => JSON.stringify(line)).join('\n');
    const page = await enter('en', '--may-push');
    await chooseFile(page, write('pushes.ndjson', text));
    await compare(page);
    await page.waitForSelector('.kinds');
    expect(await tilesOf(page)).toEqual({
      ...{ ALL: 50, MISSING: 9, DELETED: 9, NOT_DELETED: 8 },
      ...{ STALE_HERE: 8, STATUS_DIFFERS: 8, CONTENT_DIFFERS: 8 },
    });
    expect(await textOf(page, '.heat summary')).toMatch(/\d+ of \d+ cells differ/);
    expect(await sendAll(page)).toEqual([
      'Checked: 50 would be accepted, 0 would be rejected.',
      'Sent and compared again: 50 resolved, 0 failed, 0 still differ.',
    ]);
    await press(page, '#compare');
    await page.waitForFunction(
      `!document.querySelector('.kinds') && document.querySelector('.outcome .nothing')`,
    );
    expect(await textOf(page, '.summary')).toBe(
      '3,000 matters of 3,008 lines compared: 3,000 equal, 0 differ, 0 lines not readable.',
    );
    expect(await textOf(page, '.heat summary')).toContain('All days are equal.');
  });

  test('a GBK file with Chinese heads is understood; what is newer or only here is shown, and left alone', async () => {
    await seedLedger(service().db, 4, (n) => ({
      externalId: `单-${n}`,
      sourceUpdatedAt: STAMP,
      title: `标题${n}`,
    }));
    const lines = [
      '单号,状态,更新时间,标题,事项类型',
      '单-0,PENDING,2026-01-05 10:00:00,标题0,TODO',
      '单-1,DONE,2026-01-05 10:00:00,标题1,TODO',
      '单-2,PENDING,2025-01-05 10:00:00,标题2,TODO',
      '单-9,PENDING,2026-01-05 10:00:00,新的,TODO',
    ];
    const page = await enter('zh', '--may-push');
    await page.evaluate(CATCH_REPORT);
    await chooseFile(page, write('gbk.csv', gbk(lines.join('\r\n'))));
    expect(await textOf(page, '.chosen')).toContain('CSV，4 行，5 列，GBK');
    await press(page, '#option-orphans');
    await compare(page);
    await page.waitForSelector('.kinds');
    expect(await tilesOf(page)).toEqual({
      ...{ ALL: 4, MISSING: 1, STATUS_DIFFERS: 1, NEWER_HERE: 1, ORPHAN: 1 },
    });
    expect(await sendAll(page)).toEqual([
      '校验完成：2 条通过，0 条不通过。',
      '已发送并重新比对：2 条已一致，0 条失败，0 条仍有差异。',
    ]);
    await press(page, '#report');
    await page.waitForSelector('html[data-report]');
    const report = (await page.evaluate('document.documentElement.dataset.report')) as string;
    expect(report).toContain('单-3,仅门户存在,文件中没有,');
    expect(await matters().countDocuments({ deleted: false, phase: 'OPEN' })).toBe(4);
    await press(page, '#compare');
    await page.waitForFunction(
      `!document.querySelector('.progress') && document.querySelectorAll('.kinds button').length === 3`,
    );
    expect(await tilesOf(page)).toEqual({ ALL: 2, NEWER_HERE: 1, ORPHAN: 1 });
  });

  test('a natural export of a spreadsheet creates what is missing, with its assignees', async () => {
    await seedLedger(service().db, 1, () => ({
      ...{ externalId: '单-0', title: '旧标题', sourceUpdatedAt: STAMP + 30_500 },
    }));
    const lines = [
      '单据号,标题,更新时间,处理人',
      '单-0,新标题,2026/1/5 10:00,bob',
      '单-1,新的,2026/1/5 10:00,alice；bob',
    ];
    const page = await enter('zh', '--may-push');
    await chooseFile(page, write('natural.csv', gbk(lines.join('\r\n'))));
    await page.select('#column-3', 'assignee');
    await page.select('#default-type', 'TODO');
    await compare(page);
    await page.waitForSelector('.kinds');
    expect(await tilesOf(page)).toEqual({ ALL: 2, MISSING: 1, CONTENT_DIFFERS: 1 });
    expect((await sendAll(page)).at(-1)).toContain('2 条已一致，0 条失败，0 条仍有差异');
    expect(await matters().findOne({ externalId: '单-1' })).toMatchObject({
      ...{ matterType: 'TODO', title: '新的' },
      parties: [{ username: 'alice' }, { username: 'bob' }],
    });
    expect(await matters().findOne({ externalId: '单-0' })).toMatchObject({ title: '新标题' });
  });

  test('a file of which most lines cannot be read is not comparable, whatever the rest says', async () => {
    await seedLedger(service().db, 1, () => ({ externalId: 'A-0', sourceUpdatedAt: STAMP }));
    const bad = Array.from({ length: 20 }, (_, n) => `B-${n},5 Jan 2026`).join('\n');
    const page = await enter();
    await chooseFile(page, write('odd.csv', `id,updated\nA-0,2026/1/5 10:00\n${bad}\n`));
    await compare(page);
    await page.waitForSelector('.summary');
    expect(await textOf(page, '.summary')).toBe(
      '1 of 21 lines compared: 1 equal, 0 differ, 20 not readable.',
    );
    expect(await textOf(page, '.outcome .failure')).toBe(
      'Not comparable: 20 of 21 lines of the file cannot be read.',
    );
    expect(await page.$('.outcome .nothing')).toBeNull();
  });

  test('ids that a spreadsheet has changed are told, and not sent', async () => {
    await seedLedger(service().db, 2, (n) => ({ externalId: n === 0 ? '00123' : 'CH-9   ' }));
    const text = 'externalId,title,matterType\n123,t,TODO\nCH-9,t,TODO\nNEW,t,TODO\n';
    const page = await enter('en', '--may-push');
    await chooseFile(page, write('damaged.csv', text));
    await compare(page);
    await page.waitForSelector('.kinds');
    expect(await tilesOf(page)).toEqual({ ALL: 3, MISSING: 1, DAMAGED_ID: 1, LOOK_ALIKE: 1 });
    expect(await textOf(page, '.outcome')).toContain('Export the column as text');
    expect(await textOf(page, '#tick-all')).toContain('(1)');
  });

  test('a file that was written anew since it was chosen is to be chosen again', async () => {
    const page = await enter();
    await chooseFile(page, write('again.csv', 'id,status\nA-1,DONE\n'));
    write('again.csv', 'id,status\nA-1,DONE\nA-2,DONE\n');
    await compare(page);
    expect(await textOf(page, '.failure')).toContain('has changed since it was chosen');
    await chooseFile(page, join(folder, 'again.csv'));
    await compare(page);
    await page.waitForSelector('.kinds');
    expect(await tilesOf(page)).toEqual({ ALL: 2, MISSING: 2 });
  });

  test('hostile words are text, in the page and in the report; a key that only asks tries, and does not send', async () => {
    const script = '<img src=x onerror=alert(1)>';
    const rows = [
      ['externalId', script, 'title', 'matterType', 'bizStatus', '\u202estatus'],
      ['=1+1', 'x', script, 'TODO', 'DONE', '\u202e'],
      ['"><script>alert(1)</script>', 'y', 'x'.repeat(65_536), 'TODO', 'DONE', ''],
      ['\u202eabc', 'z', '\u200ft', 'TODO', 'DONE', ''],
      ['__proto__', 'z', 't', 'TODO', 'DONE', ''],
      ['bad\u0000id', 'z', 't', 'TODO', 'DONE', ''],
      ['short'],
      ['long', ...Array(9).fill(script)],
      ['low', '', 't', 'TODO', script, ''],
    ];
    const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
    const text = rows.map((cells) => cells.map(quoted).join(',')).join('\n');
    const page = await enter();
    await page.evaluate(CATCH_REPORT);
    await chooseFile(page, write('<b>hostile</b>.csv'.replaceAll('/', '_'), text));
    expect(await textOf(page, '.chosen')).toContain('<b>hostile<_b>.csv');
    await compare(page);
    await page.waitForSelector('.kinds');
    // A mark that turns the direction of writing is easily overlooked.
    expect(await tilesOf(page)).toEqual({ ALL: 5, MISSING: 4, LOOK_ALIKE: 1 });
    expect(await textOf(page, '.left-out')).toContain('not compared: 3');
    const content = await textOf(page, '.reconcile .table');

    for (const id of ['=1+1', '"><script>alert(1)</script>', '\u202eabc', '__proto__']) {
      expect(content).toContain(id);
    }
    const made = 'document.querySelectorAll("main img, main script, main b").length';
    expect(await page.evaluate(made)).toBe(0);
    expect(await page.$('#send-ticked')).toBeNull();
    expect(await textOf(page, '.sending .note')).toContain('This key is read-only');
    await press(page, '#tick-all');
    await press(page, '#try-ticked');
    await page.waitForSelector('.ended');
    // One title is too long; of the short row nothing can be made at all.
    expect(await textOf(page, '.ended')).toBe('Checked: 2 would be accepted, 1 would be rejected.');
    await press(page, '#report');
    await page.waitForSelector('html[data-report]');
    const report = (await page.evaluate('document.documentElement.dataset.report')) as string;
    expect(report).toContain("\n'=1+1,Missing in portal,");
    expect(report).not.toMatch(/(^|,)"?[=+\-@\t]/m);
    expect(await matters().countDocuments({})).toBe(0);
  });

  test('100,000 rows are read, compared and scrolled to their end', async () => {
    const lines = Array.from({ length: 100_000 }, (_, n) => `R-${n},DONE,2026-01-05 10:00:00`);
    // A key is slowed down to its rate, of which the browser complains.
    const page = await enterWith({ clientId: service().clientId, key: service().secret });
    await chooseFile(page, write('many.csv', `id,status,updated\n${lines.join('\n')}\n`));
    await compare(page);
    await page.waitForSelector('.kinds');
    expect(await tilesOf(page)).toEqual({ ALL: 100_000, MISSING: 100_000 });
    expect(await page.$$eval('.reconcile .scroller .row', (rows) => rows.length)).toBeLessThan(100);
    const { holes, most, longest } = (await page.evaluate(SCROLL_ALONG)) as Scrolled;
    process.stdout.write(`100,000 rows: the longest frame of a scroll took ${longest} ms\n`);
    expect(holes).toEqual([]);
    expect(most).toBeLessThan(100);
    await shows(page, 'R-99999', '.reconcile .scroller');
  });

  test('three steps: the focus follows them, the sample is a file of the page, and the file stays on the way back', async () => {
    await seedLedger(service().db, 2, (n) => ({ externalId: `A-${n}`, sourceUpdatedAt: STAMP }));
    const page = await enter();
    const requests: string[] = [];
    page.on('request', (request) => void requests.push(request.url()));
    await page.evaluate(CATCH_REPORT);
    expect(await stepsOf(page)).toEqual(['1 File*', '2 Columns-', '3 Result-']);
    await press(page, '#sample');
    await page.waitForSelector('html[data-report]');
    expect(await page.evaluate('document.documentElement.dataset.report')).toContain(
      'ID,Title,Matter type,',
    );
    // The page loads its other screens meanwhile, and looks whether the service is ready.
    expect(requests.filter((url) => !/^blob:|\/readyz$|\.js$/.test(url))).toEqual([]);

    const lines = ['id,status,remark', 'A-0,PENDING,x', 'A-1,DONE,', ',DONE,'];
    await chooseFile(page, write('steps.csv', lines.join('\n')));
    await focusIsAt(page, 'Columns');
    expect(await stepsOf(page)).toEqual(['1 File', '2 Columns*', '3 Result-']);
    // The keyboard alone: the button of the form takes Enter.
    await page.focus('#compare');
    await page.keyboard.press('Enter');
    await focusIsAt(page, 'Result');
    await page.waitForSelector('.kinds');
    expect(await stepsOf(page)).toEqual(['1 File', '2 Columns', '3 Result*']);
    expect(await page.$('table.columns')).toBeNull();
    expect(await textOf(page, '.chosen')).toBe('steps.csv · CSV, 3 lines, 3 columns, UTF-8');
    expect(await page.$eval('.outcome', (it) => it.firstElementChild?.textContent)).toBe(
      '2 of 3 lines compared: 1 equal, 1 differ, 1 not readable.',
    );
    expect(await textOf(page, '.outcome')).toContain('Columns that were not compared: remark');

    await press(page, '[data-step="columns"]');
    await focusIsAt(page, 'Columns');
    await press(page, '[data-step="result"]');
    await focusIsAt(page, 'Result');
    await press(page, '[data-step="columns"]');
    // A result of other columns would mislead.
    await page.select('#column-2', 'title');
    expect(await stepsOf(page)).toEqual(['1 File', '2 Columns*', '3 Result-']);
    await press(page, '[data-step="file"]');
    await focusIsAt(page, 'File');
    expect(await textOf(page, '.chosen')).toContain('steps.csv');
    await press(page, '[data-step="columns"]');
    await compare(page);
    await page.waitForSelector('.kinds');
    expect(await textOf(page, '.outcome')).not.toContain('Columns that were not compared');
  });

  test.each([
    [1280, 'light', 'en'],
    [1280, 'dark', 'zh'],
    [390, 'light', 'zh'],
    [390, 'dark', 'en'],
  ])(
    'axe finds nothing at %i px, %s, %s, and nothing has to be scrolled sideways',
    async (width, value, language) => {
      await seedLedger(service().db, 30, (n) => ({
        externalId: `A-${n}`,
        bizType: `type ${n % 3}`,
        sourceUpdatedAt: STAMP + n * 8 * HOUR,
      }));
      const page = await enter(language, '--may-push');
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
      const lines = Array.from({ length: 30 }, (_, n) => {
        const at = new Date(STAMP + (n + 2) * 8 * HOUR).toISOString();
        return `A-${n + 2},${n % 4 ? 'PENDING' : 'DONE'},${at},type ${(n + 2) % 3},TODO,title ${n}`;
      });
      const head = 'externalId,bizStatus,sourceUpdatedAt,bizType,matterType,title';
      await chooseFile(page, write('axe.csv', [head, ...lines, ',DONE'].join('\n')));
      await press(page, '#option-orphans');
      await compare(page);
      await page.waitForSelector('.kinds');
      await press(page, '#tick-all');
      await press(page, '#try-ticked');
      await page.waitForSelector('.ended');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        width,
      );
      expect(await axeFindings(page)).toEqual([]);
    },
  );
  return undefined;
});

/** No encoder of Node writes it: of each letter the bytes that its decoder reads. */
function gbk(text: string): Uint8Array {
  const decoder = new TextDecoder('gbk');
  const known = new Map<string, number[]>();
  for (let lead = 0x81; lead <= 0xfe; lead += 1) {
    for (let trail = 0x40; trail <= 0xfe; trail += 1) {
      const letter = decoder.decode(new Uint8Array([lead, trail]));
      if (letter.length === 1 && !known.has(letter)) known.set(letter, [lead, trail]);
    }
  }
  return new Uint8Array(
    [...text].flatMap((it) => (it < '\u0080' ? [it.charCodeAt(0)] : (known.get(it) ?? []))),
  );
}
