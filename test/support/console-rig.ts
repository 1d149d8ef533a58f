/** Tests of the console in a browser: a rig as of every page, with a key and the ways in. */
import type { Page } from 'puppeteer-core';
import type { WatchedPage } from './browser';
import { type BrowserOptions, type BrowserRig, inBrowser, type Prepare } from './browser-rig';
import { matterctl } from './cli-tool';
import { type ConsoleKey, makeConsoleKey } from './console-key';
import { entering, goTo } from './console-page';

export interface ConsoleRig extends BrowserRig {
  /** Of the service's client; it may push. */
  readonly key: () => ConsoleKey;
  /** Loads the console, with no key unless the fragment has one. @param fragment with its mark */
  readonly visit: (fragment: string) => Promise<WatchedPage>;
  /** Follows a link with a key, wherever that leads. */
  readonly enter: (key: ConsoleKey) => Promise<Page>;
  /** Enters by a link, and sees the overview. */
  readonly entered: (key?: ConsoleKey) => Promise<WatchedPage>;
  /** Enters by a link, and goes to a screen. @param fragment `#/pushes?lang=en` */
  readonly open: (fragment: string, seen: string, key?: ConsoleKey) => Promise<Page>;
  /** Runs `matterctl`. @throws Error where it fails */
  readonly ctl: (...args: string[]) => Promise<void>;
}

/** The rate of a key would be waited for, which takes its time and is tried elsewhere. */
const RATES = { QUERY_KEY_RATE: '1000' };

/**
 * Declares tests, which are skipped where no browser runs.
 *
 * @param name of what is tried
 * @param declare the tests; what it returns is run once before them, with the service
 */
export function inConsole(
  name: string,
  { env, ...options }: BrowserOptions,
  declare: (rig: ConsoleRig) => Prepare,
): void {
  inBrowser(name, { ...options, env: { ...RATES, ...env } }, (rig) => {
    let key: ConsoleKey;
    const prepare = declare({ ...rig, ...waysIn(rig, () => key) });
    return async (service) => {
      await prepare?.(service);
      key = await makeConsoleKey(service, '--may-push');
    };
  });
}

function waysIn({ service, url, load }: BrowserRig, key: () => ConsoleKey) {
  const visit = async (fragment: string) => {
    const opened = await load(`${url()}/console${fragment}`);
    await opened.page.waitForSelector('main');
    return opened;
  };
  const enter = async (given: ConsoleKey) => (await visit(entering(given))).page;
  return {
    key,
    visit,
    enter,
    entered: async (given = key()) => {
      const opened = await visit(entering(given));
      await opened.page.waitForSelector('.tiles');
      return opened;
    },
    open: async (fragment: string, seen: string, given = key()) => {
      const page = await enter(given);
      await page.waitForSelector('#sections a');
      await goTo(page, fragment, seen);
      return page;
    },
    ctl: async (...args: string[]) => {
      const { exitCode, stderr } = await matterctl(args, { env: service().env });
      if (exitCode !== 0) throw new Error(stderr);
    },
  };
}
