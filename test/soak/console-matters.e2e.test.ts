/** The console's screens of matters and of the set-up in a browser, over plain http from another host. */
import type { Page } from 'puppeteer-core';
import type { Matter } from '../../src/domain/matter';
import { axeFindings } from '../support/axe';
import { type ConsoleKey, makeConsoleKey } from '../support/console-key';
import { fillIn, goTo, press, shows, textOf } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { seedLedger } from '../support/ledger-seed';
import type { Service } from '../support/service';

const MATTERS = 1_200;

/** What must be shown as it is. The first one runs backwards for readers from left to right. */
const EVIL = '\u202e<img src=x onerror="document.title=1">';
const WORD = `<script>document.title=1</script>${'W'.repeat(64_000)}`;

/** Questions that nobody waits for any more are given up, and the browser says so. */
const isFault = (complaint: string) => !/^failed: .*\/api\/open\//.test(complaint);

async function seed(service: Service): Promise<void> {
  const start = Date.now() - 40 * 86_400_000;
  await seedLedger(
    service.db,
    MATTERS,
    (n): Partial<Matter> => ({
      externalId: `HD-${n}`,
      title: `purchase ${n}`,
      updatedAt: start + n * 1_000,
      phase: n % 2 ? 'OPEN' : 'CONCLUDED',
    }),
  );
  const upsert = (body: object) => service.push('upsert', { matterType: 'TODO', ...body });
  const parties = [
    { username: 'alice', partyRole: 'ASSIGNEE' },
    { username: 'bob', partyRole: 'CC' },
  ];
  await upsert({ externalId: 'PR-1', title: 'approve 采购', parties, summary: 'soon' });
  await upsert({ externalId: 'PR-1', title: ' ', parties });
  await service.push('status', { externalId: 'PR-1', bizStatus: 'DONE' });
  await upsert({
    ...{ externalId: `EVIL-${EVIL}`, title: EVIL, summary: EVIL, bizType: '<b>x</b>', parties },
    ...{ content: WORD, payloadJson: JSON.stringify(WORD.slice(0, 60_000)) },
    pcUrl: 'https://portal.test/<b>"\'',
  });
}

inConsole(
  'matters and set-up in a browser',
  { isFault, env: { RATE_LIMIT: '7777', RATE_BURST: '8888' } },
  (rig) => {
    const { service } = rig;
    /** It only asks. */
    let key: ConsoleKey;
    let page: Page;
    afterEach(async () => {
      expect(await page.evaluate('document.title')).toMatch(/console|控制台/);
    });

    /** @param fragment of the screen, in English unless it says otherwise */
    const open = async (fragment: string, seen: string) => {
      page = await rig.open(fragment, seen, key);
      return page;
    };
    const idsIn = (page: Page) =>
      page.$$eval('.table .cell.id a', (links) => links.map((it) => it.textContent));

    test('matters are found by what is known of them, and the address says what is asked for', async () => {
      await open('#/matters?lang=en', '.table .cell.id a');
      // The last changed first, and page by page as far as somebody scrolls.
      expect((await idsIn(page)).slice(2, 4)).toEqual(['HD-1199', 'HD-1198']);
      await fillIn(page, 'input[name="externalIdPrefix"]', ' HD-119');
      await press(page, 'form.search button.main');
      await shows(page, 'Matters: 11, last changed first', 'main');
      expect(await page.evaluate('location.hash')).toContain('externalIdPrefix=HD-119');
      await page.select('form.search select', 'TODO');
      await page.select('form.search label:nth-of-type(8) select', 'OPEN');
      await shows(page, 'Matters: 6, last', 'main');
      expect(await page.evaluate('location.hash')).toMatch(/matterType=TODO.*phase=OPEN/);
      // Of another tab, or a colleague: what stands in the address is asked for, and stands in the boxes.
      await goTo(page, '#/matters?lang=en&username=alice&phase=CONCLUDED', '.table .cell.id a');
      await shows(page, 'Matters: 1, last', 'main');
      expect(await idsIn(page)).toEqual(['PR-1']);
      expect(await page.evaluate('document.querySelector("[name=username]").value')).toBe('alice');
      await page.evaluate('history.back()');
      await shows(page, 'Matters: 6, last', 'main');
      await press(page, 'form.search button:not(.main)');
      await shows(page, 'Scroll to load others', 'main');
      await goTo(page, '#/matters?lang=en&changed=range&range=week', '.table .cell.id a');
      await shows(page, 'Matters: 2, last', 'main');
      await goTo(page, '#/matters?lang=en&username=zed', '.nothing');
    });

    test('matters are found by words of the title, and by names in a time range or of an id', async () => {
      await open('#/matters?lang=en&titleContains=采购+APPROVE', '.table .cell.id a');
      await shows(page, 'Matters: 1, last', 'main');
      expect(await idsIn(page)).toEqual(['PR-1']);
      // Forty days old: the whole ledger is searched.
      await goTo(page, '#/matters?lang=en&titleContains=PURCHASE+17', '.table .cell.id a');
      expect(await page.$('.heading .range')).toBeNull();
      await goTo(page, '#/matters?lang=en&words=ALICE&range=week', '.table .cell.id a');
      await shows(page, 'Matters: 2, last', 'main');
      expect(await page.$('.heading .range')).not.toBeNull();
      await goTo(page, '#/matters?lang=en&words=no+such+name&externalIdPrefix=HD-1', '.nothing');
      expect(await page.$('.heading .range')).toBeNull();
    });

    test('the search box finds matters by the start of their id, and leads to the search by title', async () => {
      await open('#/pushes?lang=en&q=HD-11', '.found a');
      expect(await textOf(page, '.found h2')).toBe('Matters whose ID starts with this text');
      const found = await page.$$eval('.found li a', (links) => links.map((it) => it.textContent));
      expect(found).toEqual(['HD-1199', 'HD-1198', 'HD-1197', 'HD-1196', 'HD-1195']);
      await page.waitForSelector('.found > a');
      await goTo(page, '#/pushes?lang=en&q=采购', '.pushes a.button');
      await shows(page, 'No pushes match.', '.pushes');
      await press(page, '.pushes > .buttons a.button');
      await page.waitForSelector('.matters .table .cell.id a');
      expect(await idsIn(page)).toEqual(['PR-1']);
    });

    test('all of a long list is scrolled through, and no more of it is in the page than what is seen', async () => {
      await open('#/matters?externalIdPrefix=HD-', '.table .cell.id a');
      const end = `document.querySelector('.scroller').scrollTop = 1e9`;
      await page.waitForFunction(
        `(() => { ${end}; return document.querySelector('[data-index="${MATTERS - 1}"]'); })()`,
        { polling: 200 },
      );
      expect((await idsIn(page)).at(-1)).toBe('HD-0');
      expect((await idsIn(page)).length).toBeLessThan(100);
      await shows(page, `${MATTERS} 个事项，最近变更的在前`, 'main');
    });

    test('one matter is a card with its parties, and its history leads to its pushes', async () => {
      await open('#/matters?lang=en&externalIdPrefix=PR-1', '.table .cell.id a');
      await press(page, '.table .cell.id a');
      await page.waitForSelector('.history > li:nth-of-type(3)');
      const card = await textOf(page, 'article.card');
      for (const text of ['To-do', 'Done', 'approve 采购', 'soon']) {
        expect(card).toContain(text);
      }
      const parties = await textOf(page, 'table.plain tbody');
      expect(parties).toMatch(/ALICE aliceHandlerUnread.*BOB bobCopiedUnread/);
      const steps = await page.$$eval('.history > li', (all) => all.map((it) => it.textContent));
      expect(steps).toEqual([
        expect.stringMatching(/Change status · Updated.*Status Pending → Done/),
        expect.stringMatching(/Save · /),
        expect.stringMatching(/Save · Created.*People added: Handler alice/),
      ]);
      const tones = await page.$$eval('.history > li', (all) => all.map((it) => it.className));
      expect(tones).toEqual(['good', 'bad', 'good']);
      await press(page, '.history > li.bad a');
      await page.waitForSelector('.push .verdict.bad');
      // And the push leads back.
      await press(page, '.push h1 a');
      await page.waitForSelector('article.card');
      await goTo(page, '#/matter?lang=en&externalId=NONE', '.nothing');
      await shows(page, 'The push log has no push of this matter.', 'main');
    });

    test('hostile content is text', async () => {
      await open('#/matters?lang=en&externalIdPrefix=EVIL', '.table .cell.id a');
      expect(await idsIn(page)).toEqual([`EVIL-${EVIL}`]);
      expect(await textOf(page, '.table .space .cell.title bdi')).toBe(EVIL);
      await press(page, '.table .cell.id a');
      await page.waitForSelector('.history > li');
      expect(await textOf(page, 'article.card h2')).toBe(EVIL);
      await page.evaluate(
        'document.querySelectorAll("details").forEach((it) => { it.open = true })',
      );
      const texts = await page.$$eval('details pre', (all) => all.map((it) => it.textContent));
      expect(texts).toEqual([WORD, JSON.stringify(WORD.slice(0, 60_000))]);
      expect(await page.$$('main img, main script, main b')).toEqual([]);
      await page.setViewport({ width: 390, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    });

    test('the set-up tells what holds, makes its checks, and which users are known', async () => {
      await open('#/setup?lang=en', '.checks[aria-busy="false"]');
      const checks = await page.$$eval('.check', (all) =>
        all.map((it) => [it.getAttribute('data-check'), it.getAttribute('data-status')]),
      );
      expect(Object.fromEntries(checks)).toEqual({
        ...{ ready: 'ok', tls: 'note', signature: 'ok', clock: 'ok' },
        ...{ body: 'ok', dryRun: 'ok', pushes: 'ok' },
      });
      const shown = await textOf(page, '.setup');
      for (const text of [service().clientId, '30 days', '1 MiB', '5 min', 'DONE', 'Query key']) {
        expect(shown).toContain(text);
      }
      expect(shown).not.toContain(service().secret);
      expect(shown).not.toContain(key.key);
      // A key has its own rate and end, whatever its client has.
      const facts = await page.$$eval('.facts dt', (all) =>
        all.map((it) => [it.textContent, it.nextElementSibling?.textContent]),
      );
      expect(Object.fromEntries(facts)).toMatchObject({
        'Rate limit of this key': '1000 requests per second, bursts of 5000',
        'Rate limit of the client': '7777 requests per second, bursts of 8888',
        'This key expires on': expect.stringMatching(/^\d{2}\/\d{2}\/20\d{2}/),
      });
      await fillIn(page, '#usernames', 'alice, bob\nzed <b>x</b>');
      await press(page, '.users button.main');
      await shows(page, '2 of 4 usernames cannot be used in a push.', '.users');
      expect(await textOf(page, '.users ul')).toBe('zed – unknown<b>x</b> – unknown');
      await fillIn(page, '#usernames', 'alice');
      await press(page, '.users button.main');
      await shows(page, 'All 1 usernames are known and enabled.', '.users');
    });

    test.each([
      [1280, 'light', 'en'],
      [390, 'dark', 'en'],
      [390, 'light', ''],
      [1280, 'dark', ''],
    ])('axe finds nothing at %i px, %s, language %s', async (width, value, lang) => {
      const suffix = lang ? `&lang=${lang}` : '';
      await open(`#/matters?phase=OPEN${suffix}`, '.table .cell.id a');
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
      const screens = [
        [`#/matters?phase=OPEN${suffix}`, '.table .cell.id a'],
        [`#/matter?externalId=PR-1${suffix}`, '.history > li'],
        [`#/setup?x=1${suffix}`, '.checks[aria-busy="false"]'],
      ] as const;
      for (const [fragment, seen] of screens) {
        await goTo(page, fragment, seen);
        const found = await axeFindings(page);
        expect([fragment, found]).toEqual([fragment, []]);
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        expect([fragment, wide]).toEqual([fragment, Math.min(Number(wide), width)]);
        const isChinese = /[\u4e00-\u9fff]/.test(await textOf(page, 'main h1'));
        expect([fragment, isChinese]).toEqual([fragment, lang === '']);
      }
    });

    return async () => {
      await seed(service());
      key = await makeConsoleKey(service());
    };
  },
);
