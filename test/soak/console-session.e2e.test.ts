/** A tab of the console over its life in a browser: another key, another day, a proxy that meddles, files that do not come. */
import type { HTTPRequest, Page } from 'puppeteer-core';
import { languageIs } from '../support/browser';
import { makeConsoleKey } from '../support/console-key';
import { entering, goTo, press, shows, textOf } from '../support/console-page';
import { inConsole } from '../support/console-rig';
import { zoneFarFromMidnight } from '../support/midnight';
import { todo } from '../support/push-bodies';
import { until } from '../support/wait';

const DAY = 86_400_000;
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
/** A reason of a pause may turn nothing round: the service takes it for no line. */
const TURNED = `\u202e${HOSTILE}`;

/** The screens show the pushes of today. */
const OPTIONS = { env: { PORTAL_TIME_ZONE: zoneFarFromMidnight() } };

inConsole('a tab of the console', OPTIONS, (rig) => {
  const { service, key, url, newPage, visit, entered, ctl } = rig;
  const upsert = (externalId: string, more: object = {}) =>
    service().push('upsert', todo(externalId, { title: 'Approve', ...more }));
  /** What the page asks is let through, or answered by the test. */
  const between = async (page: Page, answer: (request: HTTPRequest) => boolean) => {
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (!answer(request)) void request.continue();
    });
  };

  test('takes a link that is pasted into it; the key leaves the address, and who asks is another one', async () => {
    const { page } = await visit(entering(key()));
    await shows(page, '可推送', '.who');
    await goTo(page, '#/pushes?lang=en', '.pushes');
    const other = await makeConsoleKey(service());
    await page.evaluate(`location.hash = ${JSON.stringify(entering(other))}`);
    await shows(page, '仅可查询', '.who');
    expect(await page.evaluate('location.href')).not.toContain('key');
    // Back leads to where somebody was, and not to the key.
    await page.goBack();
    await page.waitForSelector('.pushes');
    expect(await page.evaluate('location.hash')).toBe('#/pushes?lang=en');
  });

  test.each([
    ['en', 'signed in as client'],
    ['zh', '正以 client'],
  ])('asks before a link of another client replaces its session (%s)', async (lang, words) => {
    const { page } = await visit(entering(key()));
    await shows(page, '可推送', '.who');
    const screen = `#/pushes?lang=${lang}`;
    await goTo(page, screen, '.pushes');
    const questions: string[] = [];
    let agrees = false;
    // As the keys Escape and Enter answer it.
    page.on('dialog', async (dialog) => {
      questions.push(dialog.message());
      await (agrees ? dialog.accept() : dialog.dismiss());
    });
    const link = entering({ ...key(), clientId: 'somebody-else' });
    await page.evaluate(`location.hash = ${JSON.stringify(link)}`);
    await until('the question', async () => questions.length === 1);
    expect(questions[0]).toContain(words);
    expect(questions[0]).toContain('somebody-else');
    await page.waitForFunction(`location.hash === ${JSON.stringify(screen)}`);
    expect(await textOf(page, '.who')).toContain(service().clientId);
    agrees = true;
    await page.evaluate(`location.hash = ${JSON.stringify(link)}`);
    // That one is no client of this service.
    await page.waitForSelector('.entrance');
    expect(await page.evaluate('location.href')).not.toContain('key');
  });

  test('goes on where something on the way changes one request, and tells so', async () => {
    const { page } = await entered();
    await between(page, (request) => {
      const isSearch = request.url().endsWith('/push-logs/query');
      if (isSearch) void request.continue({ postData: ` ${request.postData()}` });
      return isSearch;
    });
    await goTo(page, '#/pushes?lang=en', 'main .failure');
    await shows(page, 'changes requests', 'main .failure');
    expect(await page.$('.entrance')).toBeNull();
  });

  test('that was left open overnight knows what yesterday is', async () => {
    const { page } = await entered();
    await goTo(page, '#/failures?lang=en', '.inbox');
    const asked: string[] = [];
    await between(page, (request) => {
      if (request.url().endsWith('/push-logs/failures')) asked.push(request.postData() ?? '');
      return false;
    });
    const fromOf = () => String(JSON.parse(asked.at(-1) ?? '{}').from);
    await press(page, '.failures .again');
    await until('the question of today', async () => asked.length > 0);
    const today = fromOf();
    // The service goes by its own clock: the page allows for that, once.
    await page.evaluate(`{ const now = Date.now; Date.now = () => now() + ${DAY}; }`);
    await press(page, '.range button:nth-child(2)');
    await until('the question of yesterday', async () => fromOf() === today);
    await press(page, '.range button:nth-child(1)');
    await until('the question of the new day', async () => fromOf() > today);
  });

  test('does not offer to resend a push that its client did not sign', async () => {
    const { page } = await entered();
    const { reason } = await service().push(
      'upsert',
      { matterType: 'TODO', externalId: 'FORGED', title: 'x' },
      { secret: 'not the secret' },
    );
    expect(reason).toBe('SIGNATURE_MISMATCH');
    // It is logged a moment later.
    const row = '.pushes .table .space .row a';
    await goTo(page, '#/pushes?view=refused&operation=upsert&live=on&lang=en', row);
    const link = await page.$eval(row, (it) => it.getAttribute('href') ?? '');
    await goTo(page, link, '.push .facts');
    await shows(page, 'The console cannot resend this push', '.fix');
    expect(await page.$('.fix textarea, .fix button')).toBeNull();
  });

  test('shows hostile text as text: why pushes are paused, and ids in the table of pushes', async () => {
    await upsert(TURNED, { title: '' });
    await ctl('queue', 'pause', service().clientId, '--reason', HOSTILE);
    const { page } = await entered();
    await shows(page, HOSTILE, '.paused');
    await goTo(page, '#/pushes?lang=en', '.pushes .table .space .row');
    await shows(page, TURNED, '.pushes .table');
    expect(await page.$('header img, header script, main img, main script')).toBeNull();
    expect(await page.title()).toMatch(/Matter Push console$/);
    await ctl('queue', 'resume', service().clientId);
  });

  test('that turns from tall to wide has rows that do not overlap', async () => {
    const { page } = await entered();
    await page.setViewport({ width: 390, height: 800 });
    await upsert('FINE-2');
    const row = '.pushes .table .space .row';
    await goTo(page, '#/pushes?lang=en', row);
    const isHigh = (height: number) =>
      page.waitForFunction(
        `[...document.querySelectorAll('${row}')].length > 1 &&
           [...document.querySelectorAll('${row}')].every((it) => it.style.height === '${height}px')`,
      );
    await isHigh(58);
    await page.setViewport({ width: 800, height: 390 });
    await isHigh(36);
  });

  test('says what to do where a part of the page does not come', async () => {
    const { page, complaints } = await newPage();
    await between(page, (request) => {
      const isGone = /\/console\/main-\w+\.js$/.test(request.url());
      if (isGone) void request.respond({ status: 502, body: 'gone' });
      return isGone;
    });
    await page.goto(`${url()}/console`, { waitUntil: 'domcontentloaded' });
    await page.waitForSelector('.starting', { visible: true });
    expect(await textOf(page, '.starting')).toContain('Reload it.');
    // It is what this is about.
    const indexOfGone = () => complaints.findIndex((it) => /^failed: .*\/main-\w+\.js$/.test(it));
    await until('its failure to be seen', async () => indexOfGone() !== -1);
    complaints.splice(indexOfGone(), 1);
  });

  test('has the language of the browser, until another one is chosen, which is remembered', async () => {
    const { page } = await newPage();
    await page.evaluateOnNewDocument(languageIs('en-GB'));
    await page.goto(`${url()}/console`, { waitUntil: 'domcontentloaded' });
    await shows(page, 'Sign in', '.entrance');
    await press(page, '.language');
    await shows(page, '登录', '.entrance');
    await page.goto(`${url()}/console?again`, { waitUntil: 'domcontentloaded' });
    await shows(page, '登录', '.entrance');
  });

  test('opens where the browser forbids its store', async () => {
    const { page } = await newPage();
    await page.evaluateOnNewDocument(`Object.defineProperty(window, 'sessionStorage', {
        get() { throw new DOMException('forbidden', 'SecurityError'); },
      })`);
    await page.goto(`${url()}/console${entering(key())}`, { waitUntil: 'domcontentloaded' });
    await page.waitForSelector('.tiles');
  });

  return async () => {
    await upsert('FINE-1');
  };
});
