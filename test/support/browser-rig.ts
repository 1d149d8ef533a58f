/** Tests in a browser: a service and a browser of their own, their pages, and what must hold of every page. */
import type { Browser } from 'puppeteer-core';
import {
  type Chromium,
  elsewhere,
  INSIDE_HOST,
  isFault,
  openPage,
  prepareChromium,
  type WatchedPage,
} from './browser';
import { type Service, type ServiceOptions, startService } from './service';

export interface BrowserOptions extends ServiceOptions {
  /** The name by which the browser knows this machine. */
  readonly host?: string;
  /** Folders with fonts, beside those of the machine. */
  readonly fonts?: readonly string[];
  /** Which complaints of a page are held against it. */
  readonly isFault?: (complaint: string) => boolean;
  /** In place of `startService`, where something has to be there before. */
  readonly start?: typeof startService;
}

/** What the tests of a file share. It is there once they run. */
export interface BrowserRig {
  readonly service: () => Service;
  /** Where a web is, by the name that the browser knows. */
  readonly url: () => string;
  /** The same of its pages for operators; the service has to have `metrics`. */
  readonly insideUrl: () => string;
  /** An empty page. What it does is looked at after the test, and it is closed then. */
  readonly newPage: () => Promise<WatchedPage>;
  /** A page of this address, which may still ask for more: pages look at the service again and again. */
  readonly load: (url: string) => Promise<WatchedPage>;
}

/** Run once before the tests, with the service. */
export type Prepare = ((service: Service) => Promise<void>) | undefined;

/**
 * Declares tests, which are skipped where no browser runs.
 *
 * @param name of what is tried
 * @param declare the tests
 */
export function withChromium(
  name: string,
  declare: (chromium: Chromium) => void,
  fonts?: readonly string[],
): void {
  const chromium = prepareChromium(fonts);
  if ('problem' in chromium) {
    console.warn(`SKIPPED: ${name}: ${chromium.problem}`);
    test.skip(`${name} (skipped: ${chromium.problem})`, () => {});
  } else {
    describe(name, () => declare(chromium));
  }
}

/** The same, with a service and its pages. What `declare` returns is run once before the tests. */
export function inBrowser(
  name: string,
  options: BrowserOptions,
  declare: (rig: BrowserRig) => Prepare,
): void {
  withChromium(name, (chromium) => withService(chromium, options, declare), options.fonts);
}

function withService(
  { launch, remove }: Chromium,
  options: BrowserOptions,
  declare: (rig: BrowserRig) => Prepare,
): void {
  const { host = 'portal.test', start = startProcesses } = options;
  let service: Service;
  let browser: Browser;
  const opened: WatchedPage[] = [];
  const newPage = async () => {
    const one = await openPage(browser);
    opened.push(one);
    return one;
  };
  const named = (url: string | undefined, name = host) =>
    `http://${name}:${new URL(String(url)).port}`;
  // Before those of `declare`: what they take away is there as long as the service is.
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    remove();
  });
  const prepare = declare({
    service: () => service,
    url: () => named(service.urlOf()),
    insideUrl: () => named(service.metricsUrls[0], INSIDE_HOST),
    newPage,
    load: async (url) => {
      const one = await newPage();
      await one.page.goto(url, { waitUntil: 'domcontentloaded' });
      return one;
    },
  });
  beforeAll(async () => {
    service = await start(options);
    await prepare?.(service);
    browser = await launch(host);
  });
  // Whatever a page did, it left its origin nowhere, and broke no policy. Those of `declare` may look at it before.
  afterEach(async () => {
    for (const one of opened.splice(0)) {
      const complaints = one.complaints.filter(options.isFault ?? isFault);
      expect({ elsewhere: elsewhere(one.page, one), complaints }).toEqual({
        ...{ elsewhere: [], complaints: [] },
      });
      if (!one.page.isClosed()) await one.page.close();
    }
  });
}

/** Processes of its own: a browser beside them needs the process of jest. */
const startProcesses = (options: ServiceOptions = {}) =>
  startService({ processes: true, ...options });
