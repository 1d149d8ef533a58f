/**
 * The operator's screen in a browser, over plain http from a host that is not this machine by name: its
 * figures, a worker and a database that go away, a client that is paused, and hostile content.
 */
import type { Page } from 'puppeteer-core';
import { clientModel } from '../../src/storage/directory/client-model';
import { startProxy, type TcpProxy } from '../../tools/harness/proxy';
import { axeFindings, tooWide } from '../support/axe';
import { INSIDE_HOST, type WatchedPage } from '../support/browser';
import { type BrowserOptions, inBrowser } from '../support/browser-rig';
import { fillIn, press, shows, textOf } from '../support/console-page';
import { startService, testServers } from '../support/service';

const HOST = INSIDE_HOST;
const TOKEN = 'a-token-of-more-than-32-characters-0';
/** What must stay text wherever it stands. */
const HOSTILE = {
  html: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  turned: 'abc\u202egpj.exe',
  long: 'W'.repeat(200),
};

let mongo: TcpProxy;
const OPTIONS: BrowserOptions = {
  ...{ host: HOST, metrics: true, env: { OPERATOR_TOKEN: TOKEN } },
  start: async (options) => {
    const url = new URL(testServers().mongoUrl);
    mongo = await startProxy(Number(url.port), url.hostname);
    url.host = `127.0.0.1:${mongo.port}`;
    return startService({ processes: true, ...options, mongoUrl: url.href });
  },
};

inBrowser("the operator's screen in a browser", OPTIONS, ({ service, insideUrl, load }) => {
  let page: Page;
  let opened: WatchedPage;
  beforeEach(async () => {
    opened = await load(`${insideUrl()}/#/?lang=en`);
    page = opened.page;
    await page.setViewport({ width: 1280, height: 800 });
    await page.waitForSelector('.servers');
  });
  afterAll(() => mongo?.close());

  /** Opens the form of a client. */
  const ask = (what: 'Pause' | 'Resume', clientId: string) =>
    press(page, `.clients button[aria-label=${JSON.stringify(`${what} ${clientId}`)}]`);
  const fillForm = async (fields: Readonly<Record<string, string>>) => {
    await page.waitForSelector('form.change');
    for (const [name, text] of Object.entries(fields)) {
      await fillIn(page, `#change-${name}`, text);
    }
  };
  const pauseOf = async () =>
    (await clientModel(service().db).findById(service().clientId).lean())?.paused?.reason;
  /** What axe finds, and by how much the page is too wide. */
  const flaws = async () => [await axeFindings(page), await tooWide(page)];

  test('it shows what was pushed, and who serves, with one script', async () => {
    await service().push('upsert', { matterType: 'TODO', externalId: 'O-1', title: 'x' });
    await service().push('status', { externalId: 'NONE', bizStatus: 'DONE' });
    await shows(page, 'MATTER_NOT_FOUND', '.flow');
    await shows(page, 'CREATED', '.flow');
    await page.waitForSelector('.minutes rect.written');
    await page.waitForSelector('.minutes rect.rejected');
    await page.waitForSelector('.depth polyline');
    await page.waitForFunction(`document.querySelectorAll('.processes tbody tr').length === 2`);
    // On a busy machine a server is late for a look now and then.
    await page.waitForFunction(
      `/mongodb.*reachable.*redis.*reachable/.test(document.querySelector('.servers').textContent)`,
    );
    await shows(page, 'None', '.alerts');
    const scripts = opened.requests.map((it) => it.url()).filter((it) => it.endsWith('.js'));
    expect(scripts).toEqual([expect.stringMatching(/\/operator\/main-\w+\.js$/)]);
  });

  test('a client is paused and resumed with the token only; a wrong one is told in words', async () => {
    await ask('Pause', service().clientId);
    const reason = HOSTILE.html;
    await fillForm({
      reason,
      operator: HOSTILE.turned.replace('\u202e', ''),
      token: `${TOKEN}x`,
    });
    await press(page, 'form.change button.main');
    await shows(page, 'Not done: the token is wrong', 'form.change [role=alert]');
    expect(await pauseOf()).toBeUndefined();
    await fillForm({ token: TOKEN });
    await press(page, 'form.change button.main');
    await shows(page, `: ${reason}`, '.clients .paused');
    await page.waitForFunction(`!document.querySelector('form.change')`);
    expect(await pauseOf()).toBe(reason);
    await shows(page, `abcgpj.exe: queue pause ${service().clientId}`, '.marks');
    expect(await page.evaluate('localStorage.length')).toBe(0);
    await page.reload({ waitUntil: 'domcontentloaded' });
    // The tab still has the token.
    await ask('Resume', service().clientId);
    await press(page, 'form.change button.main');
    await shows(page, 'may push', '.clients');
    await page.waitForFunction(`!document.querySelector('.clients .paused')`);
    expect(await pauseOf()).toBeUndefined();
  });

  test('hostile names and reasons are text; axe finds nothing, wide and narrow, light and dark', async () => {
    await clientModel(service().db).collection.insertMany(
      Object.values(HOSTILE).map((text) => ({
        ...{ _id: text, type: 'CONFIDENTIAL', systemCode: text, enabled: true, secrets: [] },
        ...{ createdAt: new Date(), paused: { since: new Date(), reason: text } },
      })) as never,
    );
    for (const text of Object.values(HOSTILE)) await shows(page, text, '.clients');
    await ask('Resume', HOSTILE.long);
    await page.waitForSelector('form.change');
    for (const [width, value, lang] of [
      [1280, 'light', 'zh'],
      [390, 'light', 'en'],
      [1280, 'dark', 'en'],
      [390, 'dark', 'zh'],
    ] as const) {
      await page.setViewport({ width, height: 800 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
      await page.evaluate(`location.hash = '#/?lang=${lang}'`);
      await page.waitForFunction(`document.documentElement.lang.startsWith('${lang}')`);
      await page.evaluate(`for (const it of document.querySelectorAll('details')) it.open = true`);
      expect([width, value, ...(await flaws())]).toEqual([width, value, [], 0]);
      // The action of a client is in view without scrolling sideways.
      const right = await page.$eval(
        '.clients td button',
        (it) => it.getBoundingClientRect().right,
      );
      expect(right).toBeLessThanOrEqual(width);
      const text = (await textOf(page, 'h1')) + (await textOf(page, '.history h2'));
      expect(/[\u4e00-\u9fff]/.test(text)).toBe(lang === 'zh');
    }
    expect(await page.$('main img, main script')).toBeNull();
    expect(await page.title()).toBe('事项推送 – 运维');
    await clientModel(service().db).collection.deleteMany({
      _id: { $in: Object.values(HOSTILE) },
    } as never);
  });

  test('a worker that is stopped is an alert, until another one is there', async () => {
    await service().workers[0]?.stop();
    await shows(page, 'critical: No worker is alive', '.alerts');
    await page.waitForFunction(
      `!document.querySelector('.processes').textContent.includes('worker-')`,
    );
    expect(await flaws()).toEqual([[], 0]);
    await press(page, '.alerts a');
    await page.waitForSelector('#matterpushnoworker:target');
    expect(await page.title()).toBe('Alerts – Matter Push');
    for (const width of [1280, 390]) {
      await page.setViewport({ width, height: 800 });
      expect([width, ...(await flaws())]).toEqual([width, [], 0]);
    }
    await page.goBack();
    await shows(page, 'critical: No worker is alive', '.alerts');
    await service().startWorker();
    await shows(page, 'None', '.alerts');
    await shows(page, 'worker-', '.processes');
  });

  test('while MongoDB is away the rest is shown, and what is missing is named; then it is back', async () => {
    mongo.close();
    await shows(page, 'critical: A server does not answer (mongodb)', '.alerts');
    await shows(page, 'Unknown: MongoDB is unavailable.', '.clients');
    await shows(page, 'away', '.servers .light.bad');
    await page.waitForSelector('.processes tbody tr');
    await mongo.open();
    await page.waitForSelector('.clients tbody tr');
    await shows(page, 'mongodb was unavailable for', '.marks');
    await shows(page, 'None', '.alerts');
  });

  test('a process that goes away is told in words, what was seen stays; it comes back, and so does the page', async () => {
    const { port } = new URL(String(service().metricsUrls[0]));
    service().webs[0]?.kill('SIGKILL');
    await shows(page, 'The process does not answer', 'main .failure');
    expect(await page.$('.servers tbody tr')).not.toBeNull();
    service().webs[0] = await service().startWeb({ METRICS_PORT: port });
    await page.waitForFunction(`!document.querySelector('main .failure')`);
    await shows(page, 'ready', '.processes');
    // Requests to nobody are what this is about.
    const kept = opened.complaints.filter((it) => !/ERR_CONNECTION|^failed: .*\/status$/.test(it));
    opened.complaints.splice(0, Number.POSITIVE_INFINITY, ...kept);
  });

  return undefined;
});
