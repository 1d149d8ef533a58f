/** The console in a browser, as somebody at a business system uses it. Every wait is for something that is to be seen. */
import type { Browser, Page } from 'puppeteer-core';
import { type Watched, watch } from './browser';
import { matterctl } from './cli-tool';
import type { SharedService } from './service';
import { until } from './wait';

/** Milliseconds for one thing to be seen: no wait of a page may outlast its test. */
export const SEEN_MS = 40_000;

export interface ConsoleKey {
  readonly clientId: string;
  readonly key: string;
  readonly keyId: string;
}

/** Made as an operator makes it. @param options `--may-push`, `--ttl` */
export async function makeConsoleKey(
  { env, clientId, push }: SharedService,
  ...options: string[]
): Promise<ConsoleKey> {
  const args = ['client', 'console', clientId, ...options, '--json'];
  const { stdout, stderr } = await matterctl(args, {
    env: { ...env, PUBLIC_URL: 'http://portal.test/' },
  });
  if (stdout === '') throw new Error(stderr);
  const { keyId, link } = JSON.parse(stdout);
  const fragment = new URLSearchParams(new URL(link).hash.slice(1));
  const secret = String(fragment.get('key'));
  // For a tenth of a second after another one was made it is unknown: a page would take it for a wrong one.
  await until('the key to be known', async () => {
    const { code } = await push('', {}, { path: '/api/open/clients/me', secret });
    return code === 0;
  });
  return { keyId, clientId, key: secret };
}

export interface ConsolePage extends Watched {
  readonly page: Page;
}

/** @param url of the service, by the name that the browser knows @param fragment with its mark */
export async function openConsole(
  browser: Browser,
  url: string,
  fragment = '',
): Promise<ConsolePage> {
  const page = await browser.newPage();
  page.setDefaultTimeout(SEEN_MS);
  const watched = watch(page);
  // Not until the network is idle: the page looks at the service again and again.
  await page.goto(`${url}/console${fragment}`, { waitUntil: 'domcontentloaded' });
  await page.waitForSelector('main');
  return { page, ...watched };
}

export const entering = ({ clientId, key }: ConsoleKey) =>
  `#client=${encodeURIComponent(clientId)}&key=${encodeURIComponent(key)}`;

/** Goes to a screen of the console, as if a link were followed. @param fragment `#/failures?lang=en` */
export async function goTo(page: Page, fragment: string, seen: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
  await page.waitForSelector(seen);
}

/** Waits until the page shows a text. */
export const shows = (page: Page, text: string, within = 'body') =>
  page.waitForFunction(
    `document.querySelector(${JSON.stringify(within)})?.textContent.includes(${JSON.stringify(text)})`,
  );

export const textOf = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, (element) => element.textContent ?? '');

/** As a password manager does: headless browsers without a keyboard take no keys on some machines. */
export const fillIn = (page: Page, selector: string, text: string): Promise<void> =>
  page.$eval(
    selector,
    (input, value) => {
      (input as unknown as { value: string }).value = value;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      input.dispatchEvent(new Event('change', { bubbles: true }));
    },
    text,
  );

/** Clicks without looking where the element lies: tables are laid out anew while they load. */
export const press = async (page: Page, selector: string): Promise<void> => {
  await page.waitForSelector(`${selector}:not(:disabled)`);
  await page.$eval(selector, (element) => (element as unknown as { click(): void }).click());
};

/** What a page complained of, but for answers that say no, and for questions that it gave up with their screen. */
export const complaintsOf = ({ complaints }: Watched): string[] =>
  complaints.filter((it) => !/^failed: .*\/api\/open\/|status of [245]\d\d/.test(it));
