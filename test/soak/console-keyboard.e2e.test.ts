/** The console by keyboard alone: keys are pressed, and what has the focus is looked at. */
import type { Page } from 'puppeteer-core';
import { makeConsoleKey } from '../support/console-key';
import { complaintsOf, goTo, isResend, shows } from '../support/console-page';
import { inConsole } from '../support/console-rig';

const PUSHES = 60;
/** Of Tab, to anything that a screen begins with. */
const MOST_TABS = 60;

inConsole('the console by keyboard', {}, ({ service, visit, entered }) => {
  /** Presses Tab until the focus is on it. @returns how often */
  const tabTo = async (page: Page, selector: string) => {
    for (let tabs = 1; tabs <= MOST_TABS; tabs += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`))
        return tabs;
    }
    throw new Error(`${MOST_TABS} times Tab do not lead to ${selector}`);
  };
  // Not by frames: they are taken away below, and what comes in their place would never let the page go on.
  const rowWithFocus = (page: Page, index: number) =>
    page.waitForFunction(
      `document.activeElement.closest('.row')?.dataset.index === ${JSON.stringify(String(index))}`,
      { polling: 50 },
    );

  test('arrows, Home and End go from row to row of a table, and what is gone to is in sight; Enter opens it', async () => {
    const opened = await entered();
    const { page } = opened;
    await goTo(page, '#/pushes?range=week&lang=en', '.pushes .row[data-index="0"]');
    await tabTo(page, '.row[data-index="0"] a');
    // As on a busy machine: frames pass before what was scrolled to is drawn.
    await page.evaluate('window.requestAnimationFrame = (work) => queueMicrotask(work)');
    for (const [key, index] of [
      ['ArrowDown', 1],
      ['ArrowDown', 2],
      ['ArrowUp', 1],
      ['End', PUSHES - 1],
      ['ArrowDown', PUSHES - 1],
      ['ArrowUp', PUSHES - 2],
      ['Home', 0],
      ['ArrowUp', 0],
    ] as const) {
      await page.keyboard.press(key);
      await rowWithFocus(page, index);
      const isSeen = `(() => {
          const row = document.activeElement.closest('.row').getBoundingClientRect();
          const box = document.querySelector('.scroller').getBoundingClientRect();
          return row.top >= box.top - 1 && row.bottom <= box.bottom + 1;
        })()`;
      expect([key, index, await page.evaluate(isSeen)]).toEqual([key, index, true]);
    }
    await page.keyboard.press('Enter');
    await page.waitForSelector('.push .facts, .matter .facts');
    expect(complaintsOf(opened)).toEqual([]);
  });

  test('Tab leads first to the content', async () => {
    const { page } = await entered();
    await goTo(page, '#/failures?range=week&lang=en', '.groups');
    await page.reload({ waitUntil: 'domcontentloaded' });
    await page.waitForSelector('.groups a');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('skip');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.activeElement.id === 'content'`);
    await tabTo(page, '.groups a');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#select-all');
    await tabTo(page, '#select-all');
    await page.keyboard.press('Space');
    await page.waitForFunction(`!document.querySelector('#plan').disabled`);
  });

  test('the navigation of a small screen, and the account menu, open by Enter; Escape closes them and keeps the focus', async () => {
    const { page } = await entered();
    await page.setViewport({ width: 390, height: 800 });
    const hasFocus = (selector: string) =>
      page.waitForFunction(`document.activeElement.matches(${JSON.stringify(selector)})`, {
        polling: 50,
      });
    await tabTo(page, '.sections-button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#sections.open');
    await tabTo(page, '#sections a');
    await page.keyboard.press('Escape');
    await page.waitForSelector('#sections:not(.open)');
    await hasFocus('.sections-button');
    await tabTo(page, '.account summary');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.account[open]');
    await page.keyboard.press('Tab');
    await hasFocus('.account button');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.account:not([open])');
    await hasFocus('.account summary');
  });

  test('somebody enters with id and key, typed, and Enter', async () => {
    const key = await makeConsoleKey(service());
    const { page } = await visit('#/overview?lang=en');
    await page.waitForSelector('.entrance');
    await tabTo(page, '#client');
    await page.keyboard.type(key.clientId);
    await page.keyboard.press('Tab');
    await page.keyboard.type(key.key);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.tiles');
    await shows(page, service().clientId, 'header');
  });

  test('a preview is made by keyboard, and Escape closes it; nothing is sent', async () => {
    const { page, requests } = await entered();
    const group = '#/failures?range=week&reason=VALIDATION_FAILED&field=title&lang=en';
    await goTo(page, group, '.row[data-index="0"]');
    await tabTo(page, '#select-all');
    await page.keyboard.press('Space');
    await tabTo(page, '#set-value');
    await page.keyboard.type('Approve');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#send');
    await page.keyboard.press('Escape');
    await page.waitForFunction(`!document.querySelector('#send')`);
    expect(await page.evaluate('document.activeElement.id')).toBe('select-all');
    expect(requests.filter((it) => isResend(it.url(), it.postData()))).toEqual([]);
  });

  return async ({ push }) => {
    for (let n = 0; n < PUSHES; n += 1) {
      const title = n % 2 ? 'x' : '';
      await push('upsert', { matterType: 'TODO', externalId: `KEY-${n}`, title });
    }
  };
});
