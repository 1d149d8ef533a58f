/** All three pages below a path of a proxy, which takes it away before it asks the service. */
import { elsewhere, INSIDE_HOST, type Watched, type WatchedPage } from '../support/browser';
import {
  complaintsOf,
  entering,
  fillIn,
  fixPush,
  goTo,
  press,
  shows,
} from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { type PrefixProxy, startPrefixProxy } from '../support/prefix-proxy';

const HOST = 'portal.test';
const PREFIX = '/portal/push/';
const TOKEN = 'a-token-of-more-than-32-characters-0';

const OPTIONS = { metrics: true, env: { OPERATOR_TOKEN: TOKEN } };

inConsole('below a path of a proxy', OPTIONS, ({ service, key, load }) => {
  const proxies: PrefixProxy[] = [];
  const below = async (target: string, host = HOST) => {
    const proxy = await startPrefixProxy(PREFIX, target);
    proxies.push(proxy);
    return `http://${host}:${proxy.port}${PREFIX}`;
  };
  let outside: string;
  let inside: string;
  afterAll(() => Promise.all(proxies.map((proxy) => proxy.close())));

  /** Nothing was asked for outside of the path, but what a browser asks of every host. */
  const strays = ({ requests }: Watched) =>
    requests
      .map((it) => new URL(it.url()).pathname)
      .filter((path) => !path.startsWith(PREFIX) && path !== '/favicon.ico');
  const isBelow = (opened: WatchedPage) => {
    const { page } = opened;
    expect([strays(opened), elsewhere(page, opened), complaintsOf(opened)]).toEqual([[], [], []]);
  };

  test('the console is entered over plain http, shows pushes, and sends one again', async () => {
    const { requestId } = await service().push('upsert', {
      ...{ matterType: 'TODO', externalId: 'PATH-1', title: '' },
    });
    const opened = await load(`${outside}console${entering(key())}`);
    const { page } = opened;
    await page.waitForSelector('.tiles');
    expect(await page.evaluate('location.pathname')).toBe(`${PREFIX}console`);
    // Plain http, and no name of this machine: a browser keeps these two back.
    const kept = 'isSecureContext || "subtle" in crypto || "clipboard" in navigator';
    expect(await page.evaluate(kept)).toBe(false);
    await goTo(page, '#/pushes?range=week&lang=en', '.pushes .table');
    await shows(page, 'PATH-1', '.pushes');
    await goTo(page, `#/push?id=${requestId}&fix=1&lang=en`, '#fix-body');
    const body = JSON.stringify({ matterType: 'TODO', externalId: 'PATH-1', title: 'Good' });
    await fixPush(page, () => body);
    await goTo(page, '#/setup?lang=en', '.setup');
    isBelow(opened);
  });

  test('the path alone, and a slash too many, lead to the pages', async () => {
    for (const [address, path] of [
      ['', 'docs'],
      ['docs/', 'docs'],
      ['console/', 'console'],
    ]) {
      const { page } = await load(`${outside}${address}`);
      expect(await page.evaluate('location.pathname')).toBe(`${PREFIX}${path}`);
    }
  });

  test('the reference page signs and sends from its form', async () => {
    const opened = await load(`${outside}docs?lang=en`);
    const { page } = opened;
    await page.waitForSelector('#try-client');
    await fillIn(page, '#try-client', service().clientId);
    await fillIn(page, '#try-secret', service().secret);
    await press(page, '.try button.main');
    // Its example names users that are not known here: it was taken up and answered.
    await shows(page, 'requestId', '.result');
    isBelow(opened);
  });

  test("the operator's screen shows the service, and pauses a client", async () => {
    const opened = await load(`${inside}#/?lang=en`);
    const { page } = opened;
    await page.waitForSelector('.servers');
    await press(page, `.clients button[aria-label="Pause ${service().clientId}"]`);
    await page.waitForSelector('form.change');
    await fillIn(page, '#change-reason', 'month end');
    await fillIn(page, '#change-operator', 'ada');
    await fillIn(page, '#change-token', TOKEN);
    await press(page, 'form.change button.main');
    await shows(page, ': month end', '.clients .paused');
    isBelow(opened);
  });

  return async ({ urlOf, metricsUrls }) => {
    outside = await below(urlOf());
    inside = await below(String(metricsUrls[0]), INSIDE_HOST);
  };
});
