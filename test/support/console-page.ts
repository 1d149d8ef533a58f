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

/** Gives the screen of the reconciliation its file. */
export async function chooseFile(page: Page, path: string): Promise<void> {
  const input = await page.$('#reconcile-file');
  await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(path);
  await page.waitForSelector('.chosen');
}

/** The screen of a push with its editor: what stands there is written anew and verified, and is to be sent. */
export async function askToSend(page: Page, change: (body: string) => string): Promise<void> {
  const body = await page.$eval('#mend-body', (it) => (it as unknown as { value: string }).value);
  await fillIn(page, '#mend-body', change(body));
  await press(page, '.mend button[type="submit"]');
  await press(page, '.mend button.main');
}

/** The same, and it is sent. */
export async function mend(page: Page, change: (body: string) => string): Promise<void> {
  await askToSend(page, change);
  await shows(page, 'Sent, and written.', '.mend');
}

/** What a page complained of that is a fault. */
export const complaintsOf = ({ complaints }: Watched): string[] => complaints.filter(isFault);
