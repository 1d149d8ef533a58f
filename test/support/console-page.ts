/** The console in a browser, as somebody at a business system uses it. Every wait is for something that is to be seen. */
import type { Page } from 'puppeteer-core';
import { isFault, type Watched } from './browser';
import type { ConsoleKey } from './console-key';

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

/** Whether a request of the console resends pushes; a preview does not. */
export const isResend = (url: string, body = '{}'): boolean =>
  url.endsWith('/push-logs/resend') && JSON.parse(body).dryRun === false;

/** Goes to the first step of the reconciliation and gives it a file; the second step follows. */
export async function chooseFile(page: Page, path: string): Promise<void> {
  await press(page, '[data-step="file"]');
  const input = await page.waitForSelector('#reconcile-file');
  await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(path);
  await page.waitForSelector('[data-step="columns"][aria-current="step"]');
}

/** On the screen of a push: changes the body as JSON, checks it, and asks to resend it. */
export async function askToResend(page: Page, change: (body: string) => string): Promise<void> {
  const body = await page.$eval('#fix-body', (it) => (it as unknown as { value: string }).value);
  await fillIn(page, '#fix-body', change(body));
  await press(page, '.fix button[type="submit"]');
  await press(page, '.fix button.main');
}

/** The same, until the push is resent. */
export async function fixPush(page: Page, change: (body: string) => string): Promise<void> {
  await askToResend(page, change);
  await shows(page, 'Resent. The ledger has the new data.', '.fix');
}

/** What a page complained of that is a fault. */
export const complaintsOf = ({ complaints }: Watched): string[] => complaints.filter(isFault);
