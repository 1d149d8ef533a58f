/**
 * The console in a browser, over plain http from a host that is not this machine by name: the way in, its
 * screens, hostile content, and a service that goes away and comes back.
 */
import type { Page } from 'puppeteer-core';
import { freePort } from '../../tools/local/ports';
import { axeFindings, tooWide } from '../support/axe';
import type { BrowserOptions } from '../support/browser-rig';
import { makeConsoleKey } from '../support/console-key';
import {
  complaintsOf,
  fillIn,
  fixPush,
  goTo,
  isResend,
  press,
  shows,
  textOf,
} from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { todo } from '../support/push-bodies';
import { startService } from '../support/service';
import { until } from '../support/wait';

const RANGE = 'range=week';
/** With a port that no outgoing connection takes while the web is away. */
const OPTIONS: BrowserOptions = {
  start: async ({ env, ...options } = {}) => {
    const PORT = String(await freePort());
    return startService({ processes: true, ...options, env: { ...env, PORT } });
  },
};
/** What must stay text wherever it stands; the longest that the service takes. */
const HOSTILE = {
  html: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  formula: '=HYPERLINK("http://evil.test")',
  turned: 'abc\u202egpj.exe',
  long: 'W'.repeat(65_536),
};

inConsole('the console in a browser', OPTIONS, ({ service, key, visit, entered, ctl }) => {
  const upsert = (externalId: string, more: object = {}) =>
    service().push('upsert', todo(externalId, { title: 'Approve', ...more }));

  test('entered by a link, the key is in no address, in no store of the browser, and in no request', async () => {
    const { page, requests } = await entered();
    expect(await page.evaluate('location.href')).not.toContain('key');
    expect(await page.evaluate('localStorage.length')).toBe(0);
    expect(await page.evaluate('document.cookie')).toBe('');
    // A fragment stays in the browser.
    const sent = requests.map((it) => [
      ...[it.url().replace(/#.*/, ''), JSON.stringify(it.headers()), it.postData() ?? ''],
    ]);
    expect(sent.some((it) => it.join().includes('x-signature'))).toBe(true);
    expect(sent.filter((it) => it.join().includes(key().key))).toEqual([]);
    // Back leads out of the page, and not to where the key stood.
    expect(await page.evaluate('history.length')).toBeLessThanOrEqual(2);
    await press(page, '.account button');
    await page.waitForSelector('.entrance');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  const typeIn = async (page: Page, clientId: string, secret: string) => {
    await page.waitForSelector('.entrance');
    await fillIn(page, '#client', clientId);
    await fillIn(page, '#key', secret);
    await press(page, '.entrance button.main');
  };

  test('entered by id and secret; a wrong, a revoked and an unknown one are told in words', async () => {
    const { page } = await visit('#/overview?lang=en');
    const revoked = await makeConsoleKey(service());
    await ctl('client', 'revoke', service().clientId, revoked.keyId);
    for (const [id, secret] of [
      [service().clientId, 'wrong'],
      [service().clientId, revoked.key],
      ['nobody', 'wrong'],
    ] as const) {
      await typeIn(page, id, secret);
      await page.waitForSelector('.entrance .failure');
      expect(await textOf(page, '.entrance .failure')).toContain('The key was not accepted');
      await page.reload({ waitUntil: 'domcontentloaded' });
    }
    await typeIn(page, service().clientId, service().secret);
    await shows(page, 'read and push', '.who');
  });

  test('a view is opened in another tab by its address; a tab without a key asks for one', async () => {
    const { page } = await entered();
    const view = `#/failures?reason=VALIDATION_FAILED&field=title&${RANGE}&lang=en`;
    await goTo(page, view, '.group .table');
    await page.waitForSelector('.group .row .matter a');
    const rows = await page.$$eval('.group .row .matter a', (all) => all.length);
    expect(rows).toBeGreaterThanOrEqual(4);
    const other = await visit(view);
    await other.page.waitForSelector('.entrance');
    await typeIn(other.page, key().clientId, key().key);
    await other.page.waitForSelector('.group .table');
    expect(await other.page.$$eval('.group .row .matter a', (all) => all.length)).toBe(rows);
  });

  test('hostile content is text on every screen, and no formula in a file', async () => {
    const { page } = await entered();
    // What would be saved is kept, to be looked at.
    await page.evaluate(`URL.createObjectURL = (blob) => {
        blob.text().then((text) => { document.body.dataset.saved = text; });
        return '#saved';
      }`);
    await goTo(page, `#/failures?${RANGE}&lang=en`, '.groups');
    await press(page, '.export');
    const saved = await until('the file', () =>
      page.$eval('body', (it) => it.getAttribute('data-saved')).then((it) => it ?? false),
    );
    expect(saved).toContain(`"'=HYPERLINK(""http://evil.test"")"`);
    await goTo(
      page,
      `#/failures?reason=VALIDATION_FAILED&field=title&${RANGE}&lang=en`,
      '.group .table',
    );
    expect(await textOf(page, '.group .table')).toContain(HOSTILE.html);
    const links = await page.$$eval('.group .matter a', (all) =>
      all.map((it) => it.getAttribute('href') ?? ''),
    );
    for (const link of links) {
      await goTo(page, link, `.push .facts`);
      await page.waitForSelector('.push .verdict');
    }
    expect(await page.$('main img, main script')).toBeNull();
    expect(await page.title()).toMatch(/Matter Push console$/);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });

  test('a read-only key shows its limits before work begins', async () => {
    const { page } = await entered(await makeConsoleKey(service()));
    await goTo(
      page,
      `#/failures?reason=VALIDATION_FAILED&field=title&${RANGE}&lang=en`,
      '.group .table',
    );
    await shows(page, 'This key is read-only.', '.group');
    expect(await page.$('#plan, .set, #send')).toBeNull();
  });

  const SCREENS: [fragment: string, seen: string][] = [
    ['overview?', '.tiles'],
    ['failures?', '.groups'],
    ['failures?reason=VALIDATION_FAILED&field=title&', '.group .table'],
    ['pushes?', '.pushes .table'],
    ['matters?', 'main h1'],
  ];
  test.each(['light', 'dark'])(
    'axe finds nothing in %s, wide and narrow, in both languages; nothing is scrolled sideways',
    async (scheme) => {
      const { page } = await entered();
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      for (const [width, lang] of [
        [1280, 'zh'],
        [390, 'en'],
      ] as const) {
        await page.setViewport({ width, height: 800 });
        for (const [fragment, seen] of SCREENS) {
          await goTo(page, `#/${fragment}${RANGE}&lang=${lang}`, seen);
          await page.waitForFunction(`document.documentElement.lang.startsWith('${lang}')`);
          const found = await axeFindings(page);
          expect([fragment, width, found, await tooWide(page)]).toEqual([fragment, width, [], 0]);
          const text = await textOf(page, 'header');
          expect(/[\u4e00-\u9fff]/.test(text.replace('中文', ''))).toBe(lang === 'zh');
        }
      }
    },
  );

  test('an address that names no push is told in words, and its section is marked; axe finds nothing in a push', async () => {
    const opened = await entered();
    const { page } = opened;
    const marked = () =>
      page.$$eval('nav [aria-current]', (all) =>
        all.map((it) => [it.getAttribute('href')?.split('?')[0], it.getAttribute('aria-current')]),
      );
    await goTo(page, '#/push?lang=en', 'main h1');
    await shows(page, 'This address does not contain a request ID', 'main');
    expect(await marked()).toEqual([['#/pushes', 'true']]);
    const { requestId } = await upsert('AXE-1', { title: '' });
    await goTo(page, `#/push?id=${requestId}&lang=en`, '.push .facts');
    expect(await axeFindings(page)).toEqual([]);
    await goTo(page, '#/pushes?lang=en', '.pushes');
    expect(await marked()).toEqual([['#/pushes', 'page']]);
    expect(complaintsOf(opened)).toEqual([]);
  });

  test('a service that goes away is told in words; it comes back, and so does the page', async () => {
    const { page, complaints } = await entered();
    await goTo(page, `#/failures?${RANGE}&lang=en`, '.groups');
    const [web] = service().webs;
    web?.kill('SIGKILL');
    await press(page, '.again');
    await page.waitForSelector('main .failure');
    expect(await textOf(page, 'main .failure')).toContain('The service does not answer.');
    service().webs[0] = await service().startWeb();
    await page.waitForFunction(`!document.querySelector('main .failure')`);
    await page.waitForSelector('.groups');
    expect(complaints.splice(0).every((it) => /ERR_|^failed: /.test(it))).toBe(true);
  });

  /** Failed matters of their own, selected, with a preview of their resend. */
  const planned = async (page: Page, name: string, field: 'mobileUrl' | 'bizStatus') => {
    for (let n = 0; n < 3; n += 1) await upsert(`${name}-${n}`, { [field]: 'no such' });
    const group = `#/failures?reason=VALIDATION_FAILED&field=${field}&${RANGE}&lang=en`;
    await goTo(page, group, '.group .table');
    await press(page, '#select-all');
    await page.select('#set-form', 'remove');
    await press(page, '.set button[type="submit"]');
    await shows(page, '3 pushes of 3 matters will be resent', '.work');
  };

  test('a resend waits as long as the service asks, and continues', async () => {
    const { page } = await entered();
    await planned(page, 'BUSY', 'mobileUrl');
    const times: number[] = [];
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (!isResend(request.url(), request.postData())) return void request.continue();
      times.push(Date.now());
      if (times.length > 1) return void request.continue();
      const envelope = { code: 503, message: 'busy', reason: 'BACKLOG_FULL', data: null };
      const headers = { 'Retry-After': '3' };
      return void request.respond({ status: 503, headers, body: JSON.stringify(envelope) });
    });
    await press(page, '#send');
    await shows(page, 'The service cannot accept pushes now (Service overloaded)', '.work');
    await shows(page, 'Done: 3 resent, 0 failed.', '.work');
    expect(Number(times[1]) - Number(times[0])).toBeGreaterThanOrEqual(3_000);
    expect(await textOf(page, '.group .table')).toContain('Resent: Created');
  });

  test('while the client is paused nothing is resent; afterwards the resend continues', async () => {
    const { page } = await entered();
    await planned(page, 'PAUSED', 'bizStatus');
    await ctl('queue', 'pause', service().clientId, '--reason', 'month end');
    const isPaused = async () => (await upsert('FINE-1')).reason === 'CLIENT_PAUSED';
    await until('the pause', isPaused);
    await press(page, '#send');
    await shows(page, 'Stopped. 3 pushes were not resent', '.work');
    expect(await textOf(page, '.work .failure')).toContain('CLIENT_PAUSED');
    await ctl('queue', 'resume', service().clientId);
    await until('its end', async () => !(await isPaused()));
    await press(page, '.work button.main');
    await shows(page, 'Done: 3 resent, 0 failed.', '.work');
  });

  test('a failed push is fixed and resent', async () => {
    const { page } = await entered();
    await upsert('FIX', { title: '', pcUrl: 'javascript:alert(1)' });
    await goTo(
      page,
      `#/failures?reason=VALIDATION_FAILED&field=pcUrl&${RANGE}&lang=en`,
      '.group .table',
    );
    const link = await page.$eval('.group .act a', (it) => it.getAttribute('href') ?? '');
    await goTo(page, link, '.fix[open] textarea');
    await press(page, '.fix button[type="submit"]');
    await page.waitForSelector('.fix .verdict.bad');
    expect(await page.$$eval('.marks button', (all) => all.map((it) => it.textContent))).toEqual([
      'title',
      'pcUrl',
    ]);
    await fillIn(page, '[data-field="title"]', 'Good');
    await fixPush(page, (body) => body.replace('javascript:alert(1)', 'https://a.test'));
    await goTo(
      page,
      `#/failures?reason=VALIDATION_FAILED&field=pcUrl&${RANGE}&lang=en&n=2`,
      '.empty',
    );
  });

  return async () => {
    await upsert('FINE-1');
    await upsert(HOSTILE.html, { title: '' });
    await upsert(HOSTILE.formula, { title: '' });
    await upsert(HOSTILE.turned, { title: '', summary: HOSTILE.html });
    await upsert('LONG', { title: HOSTILE.long });
    await upsert('USER', { parties: [{ username: HOSTILE.html, partyRole: 'ASSIGNEE' }] });
  };
});
