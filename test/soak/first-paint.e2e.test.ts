/** The first look of a browser that has nothing of the service yet: what is painted, and when. */
import type { Page } from 'puppeteer-core';
import { INSIDE_HOST } from '../support/browser';
import { withChromium } from '../support/browser-rig';
import { type Service, startService } from '../support/service';

const HOST = 'portal.test';
/** Of each page: the machine has more to do than this. */
const LOOKS = 3;

withChromium('the first paint', ({ launch, remove }) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ processes: true, workers: 0, metrics: true });
  });
  afterAll(async () => {
    await service?.stop();
    remove();
  });
  const at = (url: string | undefined, path: string, host = HOST) =>
    `http://${host}:${new URL(String(url)).port}${path}`;

  test.each<[string, () => string, string]>([
    ['the console', () => at(service.urlOf(), '/console'), '.entrance'],
    ['the reference page', () => at(service.urlOf(), '/docs'), 'main'],
    ["the operator's screen", () => at(service.metricsUrls[0], '/', INSIDE_HOST), '.servers'],
  ])(
    '%s loads exactly the modules that it names, and each of them once',
    async (title, url, seen) => {
      const figures: string[] = [];
      for (let look = 0; look < LOOKS; look += 1) {
        // A browser of its own, with a profile of its own: nothing is in its cache.
        const browser = await launch(HOST);
        const page = await browser.newPage();
        await page.goto(url(), { waitUntil: 'domcontentloaded' });
        await page.waitForSelector(seen);
        const { paint, loaded, named, sent } = await figuresOf(page);
        expect(loaded.sort()).toEqual(named.sort());
        figures.push(`${Math.round(paint)} ms`);
        if (look === 0) figures.unshift(`${loaded.length} modules, ${sent} bytes; first paint`);
        await browser.close();
      }
      process.stdout.write(`${title}: ${figures.join(' ')}\n`);
    },
  );
});

interface Figures {
  /** Milliseconds from the start of the navigation. */
  readonly paint: number;
  /** URLs of modules. */
  readonly loaded: string[];
  readonly named: string[];
  /** Bytes of bodies, compressed. */
  readonly sent: number;
}

const figuresOf = (page: Page) =>
  page.evaluate(`new Promise((done) => new PerformanceObserver((list) => {
    const paint = list.getEntriesByName('first-contentful-paint')[0];
    if (!paint) return;
    const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    const links = [...document.querySelectorAll('link[rel=modulepreload], script')];
    done({
      paint: paint.startTime,
      loaded: all.map(({ name }) => name).filter((name) => name.endsWith('.js')),
      named: links.map(({ href, src }) => href ?? src),
      sent: all.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    });
  }).observe({ type: 'paint', buffered: true }))`) as Promise<Figures>;
