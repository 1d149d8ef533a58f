/**
 * The reference page in a browser, over plain http from a host that is not this machine by name: the
 * browser trusts it as little as it would an intranet.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { endpointsOf } from '../../browser/docs/api';
import type { Api } from '../../browser/docs/shapes';
import { EXAMPLES } from '../../browser/docs/signing-files';
import { importUsers } from '../../src/storage/directory/user-admin';
import { matterModel } from '../../src/storage/ledger/matters';
import { type AppProcess, startApp } from '../../tools/local/app-process';
import { freePort } from '../../tools/local/ports';
import { projectRoot } from '../../tools/local/project';
import { axeFindings } from '../support/axe';
import { PAGE_MS, type WatchedPage } from '../support/browser';
import { inBrowser } from '../support/browser-rig';
import { fillIn, textOf } from '../support/console-page';
import { epochSeconds } from '../support/hostile-post';
import { DOCUMENT } from '../support/openapi';
import { until } from '../support/wait';

const HOST = 'portal.test';
/** Those of the examples in the OpenAPI document. */
const USERS = ['li.lei', 'han.meimei'];

/** Wide or narrow, once the page has taken it in. */
async function resize(page: Page, width: number): Promise<void> {
  await page.setViewport({ width, height: 800 });
  const isOpen = `document.querySelector('nav details').open === ${width > 768}`;
  await page.waitForFunction(isOpen);
}

inBrowser('the reference page in a browser', { isFault: () => true }, (rig) => {
  const { service, newPage } = rig;
  let opened: WatchedPage;

  const open = async (language = 'en', url = rig.url()) => {
    opened = await newPage();
    const { page } = opened;
    page.setDefaultTimeout(PAGE_MS);
    await page.evaluateOnNewDocument(
      `Object.defineProperty(navigator, 'language', { get: () => '${language}' })`,
    );
    await page.goto(`${url}/docs`, { waitUntil: 'networkidle0' });
    await page.waitForSelector('#errors');
    return opened;
  };

  /** Fills the form in, sends it, and returns what is shown then. */
  async function push(secret: string): Promise<string> {
    const { page } = opened;
    await fillIn(page, '#try-client', service().clientId);
    await fillIn(page, '#try-secret', secret);
    await page.click('.try button.main');
    await page.waitForSelector('.result .answer');
    return textOf(page, '.result');
  }

  test('is complete, with files of its own only, where there is no crypto.subtle', async () => {
    const { page, requests } = await open();
    expect(await page.evaluate('isSecureContext || crypto.subtle !== undefined')).toBe(false);
    expect(requests.length).toBeGreaterThan(4);
    const line = 'document.querySelector("#overview span").getBoundingClientRect().height';
    expect(await page.evaluate(line)).toBeGreaterThan(10);
    for (const id of ['upsertMatter', 'findOrphans', 'upsertMatter-Party', 'try-it']) {
      expect([id, (await page.$(`#${id}`)) === null]).toEqual([id, false]);
    }
    const error = await textOf(page, '#reason-RATE_LIMITED');
    expect(error).toContain('429RATE_LIMITED请求过于频繁，请稍后重试');
    expect(error).toMatch(/retry later$/);
    const deadLinks = `[...document.querySelectorAll('a[href^="#"]')]
        .map((link) => link.getAttribute('href'))
        .filter((href) => document.getElementById(href.slice(1)) === null)`;
    expect(await page.evaluate(deadLinks)).toEqual([]);
  });

  test('a push is signed in the page, answered code 0, and in the ledger; the secret stays', async () => {
    const { page, requests } = await open();
    const shown = await push(service().secret);
    expect(shown).toContain('"code": 0');
    expect(shown).toContain('"outcome": "CREATED"');
    expect(shown).toContain(`${service().clientId}\n`);
    expect(shown).toContain(`curl -sS 'http://${HOST}:`);
    const key = { systemCode: 'TEST', externalId: 'PR-2026-001' };
    const matter = await matterModel(service().db).findOne(key).lean();
    expect(matter).toMatchObject({ matterType: 'TODO', title: '审批：采购申请' });

    const sent = requests.map((it) => [it.url(), JSON.stringify(it.headers()), it.postData()]);
    expect(sent.join()).toContain('"x-signature"');
    expect(sent.join() + (await page.content())).not.toContain(service().secret);
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  test('after a wrong secret it says what to look at', async () => {
    await open();
    const shown = await push(`${service().secret} `);
    expect(shown).toContain('SIGNATURE_MISMATCH');
    expect(shown).toContain('What to check');
    expect(shown).toContain('Is the secret the current one');
    // The browser itself notes every answer that is not good.
    expect(opened.complaints.splice(0)).toEqual([expect.stringContaining('401')]);

    // With the right secret the cause is asked for; the rejection is in the log a moment later.
    const { page } = opened;
    await fillIn(page, '#try-secret', service().secret);
    await until('the cause', async () => {
      await page.click('.result button.diagnose');
      await page.waitForSelector('.result button.diagnose:not([disabled])');
      return (await textOf(page, '.result .diagnosis')).includes('SECRET_WHITE_SPACE');
    });
  });

  test('every operation has a form, and its example is answered', async () => {
    const { page } = await open();
    await push(service().secret);
    const values =
      'Array.from(document.querySelectorAll("#try-operation option"), (it) => it.value)';
    const operations = (await page.evaluate(values)) as string[];
    const all = endpointsOf(DOCUMENT as unknown as Api).map(({ operation }) => operation);
    expect(operations).toEqual(
      all.filter((it) => it.requestBody).map(({ operationId }) => operationId),
    );
    let signedIn = 0;
    for (const operation of operations) {
      await page.select('#try-operation', operation);
      // Another second: the bodies of two operations may be the same, and so their signatures.
      await until('the next second', async () => epochSeconds() > signedIn);
      await page.click('.try button.main');
      await page.waitForSelector('.try button.main:enabled');
      const verdict = await textOf(page, '.result .answer');
      signedIn = epochSeconds();
      // The example of a resend names a push of another log.
      const expected = operation === 'resendPushes' ? /PUSH_NOT_FOUND/ : /"code": ?0/;
      expect([operation, verdict]).toEqual([operation, expect.stringMatching(expected)]);
    }
  });

  test('it speaks the language of the browser, and the other one at a click; what is filled in stays', async () => {
    const { page } = await open('zh-CN');
    expect(await page.$eval('html', (html) => html.getAttribute('lang'))).toBe('zh-CN');
    const titles = 'Array.from(document.querySelectorAll("h2"), (it) => it.textContent)';
    const chinese = (await page.evaluate(titles)) as string[];
    expect(chinese).toContain('如何签名');
    await fillIn(page, '#try-secret', 'kept');
    await page.click('.languages button[value="en"]');
    const english = (await page.evaluate(titles)) as string[];
    expect(english).toContain('How to sign');
    expect(english.join()).not.toMatch(/[\u4e00-\u9fff]/);
    expect(await page.$eval('html', (html) => html.getAttribute('lang'))).toBe('en');
    expect(await page.evaluate('document.querySelector("#try-secret").value')).toBe('kept');
  });

  test.each([360, 1280])(
    'at a width of %i px nothing has to be scrolled sideways, and every input has its label',
    async (width) => {
      const { page } = await open();
      await resize(page, width);
      await push(service().secret);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        width,
      );
      const unlabelled = `[...document.querySelectorAll('input, select, textarea')]
        .filter((input) => !input.labels[0]?.textContent).length`;
      expect(await page.evaluate(unlabelled)).toBe(0);
    },
  );

  test('operations and schemas are folded, and a link to one unfolds it', async () => {
    const { page } = await open();
    const folded = 'document.querySelectorAll("details.schemas:not([open])").length';
    expect(await page.evaluate(folded)).toBeGreaterThan(20);
    // 66,000 pixels with everything unfolded.
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(24_000);
    await page.evaluate(`location.hash = '#pushBatch'`);
    await page.waitForFunction(`document.querySelector('#pushBatch > details').open`);
    for (const id of ['queryPushLog-LogEntry', 'upsertMatter-Party.partyRole', 'schema-Matter']) {
      await page.evaluate(`location.hash = '#${id}'`);
      const shown = `(document.getElementById('${id}') ?? document.querySelector('[data-schema="Matter"]'))`;
      await page.waitForFunction(`${shown}.checkVisibility()`);
      await page.waitForFunction(`${shown}.getBoundingClientRect().top < innerHeight`);
    }
  });

  test('a search leads to a field that is folded; the contents mark where one is', async () => {
    const { page } = await open();
    await fillIn(page, '#search', 'partyRole');
    expect(await textOf(page, '.search [role="status"]')).toMatch(/^\d+ found$/);
    expect(await page.$eval('nav details', (it) => it.hasAttribute('hidden'))).toBe(true);
    await page.click('.found a');
    await page.waitForFunction(
      `document.getElementById('upsertMatter-Party.partyRole').checkVisibility()`,
    );
    await fillIn(page, '#search', 'no such thing');
    expect(await textOf(page, '.search [role="status"]')).toBe('Nothing found');
    await fillIn(page, '#search', '');
    const current = 'document.querySelector("nav a[aria-current]")?.hash';
    for (const id of ['upsertMatter', 'isAlive', 'signing']) {
      await page.evaluate(`location.hash = '#${id}'`);
      await page.waitForFunction(`${current} === '#${id}'`);
    }
    expect(await page.evaluate('document.querySelectorAll("nav a[aria-current]").length')).toBe(1);
  });

  test('every signing example is shown as it is in its tab, and is copied over plain http', async () => {
    const { page } = await open();
    await page.evaluate(`addEventListener('copy', () => {
        document.body.dataset.copied = String(getSelection());
      })`);
    const names = await page.$$eval('[role="tab"]', (tabs) => tabs.map((it) => it.textContent));
    expect(names).toEqual(EXAMPLES.map(({ name }) => name));
    for (const [index, { files }] of EXAMPLES.entries()) {
      await page.click(`#signing-examples-${index}`);
      await page.waitForSelector(`#signing-examples-panel a[download="${files[0]}"]`);
      const text = readFileSync(join(projectRoot(), 'examples/signing', files[0]), 'utf8');
      expect(await textOf(page, '#signing-examples-panel pre')).toBe(text);
      // The button says so for a moment only.
      await until('the copy to be confirmed', async () => {
        await page.click('#signing-examples-panel button.copy');
        return (await textOf(page, '#signing-examples-panel button.copy')) === 'Copied';
      });
      const copied = await page.$eval('body', (body) => body.getAttribute('data-copied'));
      expect(copied?.trimEnd()).toBe(text.trimEnd());
    }
  });

  test('a dry run writes nothing, and says what is wrong in the words of a push', async () => {
    const { page } = await open();
    const body = (title: string) => `{"matterType":"TODO","externalId":"DRY","title":"${title}"}`;
    await page.click('#try-dry');
    await fillIn(page, '#try-body', body('x'));
    expect(await push(service().secret)).toContain('it would be accepted. Nothing was written.');
    await fillIn(page, '#try-body', body(' '));
    await page.click('.try button.main');
    await page.waitForSelector('.result .answer.bad');
    expect(await textOf(page, '.result')).toContain('"field": "title"');
    expect(opened.complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    expect(await matterModel(service().db).countDocuments({ externalId: 'DRY' })).toBe(0);
    // Of no meaning where nothing would be written anyway.
    await page.select('#try-operation', 'queryPushLog');
    expect(await page.$eval('#try-dry', (it) => it.checkVisibility())).toBe(false);
  });

  test('a batch is tried, and each of its lines has its own row; so has its dry run', async () => {
    const { page } = await open();
    const lines = [
      { op: 'upsert', body: { matterType: 'TODO', externalId: 'BATCH-1', title: 'x' } },
      { op: 'upsert', body: { matterType: 'TODO', externalId: 'BATCH-2', title: '<b> ' } },
      { op: 'status', body: { externalId: 'BATCH-3', bizStatus: 'no' } },
    ];
    const rows = () =>
      page.$$eval('.result tbody tr', (all) =>
        all.map((row) => [...row.children].slice(0, 3).map((cell) => cell.textContent)),
      );
    await page.select('#try-operation', 'pushBatch');
    await fillIn(page, '#try-body', lines.map((line) => JSON.stringify(line)).join('\n'));
    await page.click('#try-dry');
    expect(await push(service().secret)).toContain('some lines would fail. Nothing was written.');
    const failed = ['3', 'BATCH-3', '400 VALIDATION_FAILED'];
    expect(await rows()).toEqual([
      ['1', 'BATCH-1', 'would be accepted'],
      ['2', 'BATCH-2', 'would be accepted'],
      failed,
    ]);
    const written = { externalId: /^BATCH-/ };
    expect(await matterModel(service().db).countDocuments(written)).toBe(0);
    await page.click('#try-dry');
    await page.click('.try button.main');
    await page.waitForFunction(
      `document.querySelector('.result .partly')?.textContent.includes('CREATED')`,
    );
    expect(await rows()).toEqual([
      ['1', 'BATCH-1', 'CREATED'],
      ['2', 'BATCH-2', 'CREATED'],
      failed,
    ]);
    expect(await matterModel(service().db).countDocuments(written)).toBe(2);
  });

  test.each([
    [390, 'light', 'en'],
    [1280, 'light', 'zh-CN'],
    [1280, 'dark', 'en'],
  ])('axe finds nothing at %i px, %s, %s', async (width, value, language) => {
    const { page } = await open(language);
    await resize(page, width);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
    await push(service().secret);
    // One operation of each kind: of the others nothing differs but the texts.
    const some = '#upsertMatter details, #queryPushLog details, #errors details';
    await page.evaluate(`for (const it of document.querySelectorAll('${some}')) it.open = true`);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('lines of text are no longer than 85 letters', async () => {
    const { page } = await open();
    await resize(page, 1600);
    const longest = await page.evaluate(`Math.max(
        ...[...document.querySelectorAll('main article > p > span')].map((span) => {
          const range = document.createRange();
          range.setStart(span, 0);
          const text = span.firstChild;
          if (text?.nodeType !== Node.TEXT_NODE) return 0;
          const endsOnFirst = (end) => {
            range.setEnd(text, end);
            return range.getBoundingClientRect().height < 30;
          };
          let length = 0;
          while (length < text.length && endsOnFirst(length + 1)) length += 1;
          return length;
        }))`);
    expect(longest).toBeGreaterThan(50);
    expect(longest).toBeLessThan(85);
  });

  test('with DOCS_DEMO the demo client is there: one press of a button', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'matter-push-docs-demo-'));
    const { clientId, secret } = service();
    writeFileSync(join(folder, 'demo-client.json'), JSON.stringify({ clientId, secret }));
    const port = String(await freePort());
    let web: AppProcess | undefined;
    try {
      const url = `http://${HOST}:${port}`;
      // Under another name than its own the service would not show the secret.
      const own = { PORT: port, PUBLIC_URL: url, DOCS_DEMO: 'on', DATA_DIR: folder };
      web = await startApp({
        name: 'web',
        script: join(projectRoot(), 'dist/src/web.js'),
        env: { ...process.env, ...service().env, ...own },
        logFile: join(folder, 'web.log'),
        drainMs: 300_000,
      });
      const { page } = await open('en', url);
      await page.click('.try button.main');
      await page.waitForSelector('.answer.good');
    } finally {
      await web?.stop();
      rmSync(folder, { recursive: true });
    }
  });

  return async ({ db }) => {
    await importUsers(
      db,
      USERS.map((username) => ({ username, displayName: username })),
    );
  };
});
