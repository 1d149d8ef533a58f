/**
 * The queue board in a browser: it opens, lists the partition jobs, complains of nothing and asks
 * nobody else.
 */
import { Redis } from 'ioredis';
import type { Browser, Page } from 'puppeteer-core';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../src/queue/keys';
import { createPartitionJobs } from '../../src/queue/partition-jobs';
import {
  type Chromium,
  elsewhere,
  PAGE_MS,
  prepareChromium,
  type Watched,
  watch,
} from '../support/browser';
import { type Service, startService, testServers } from '../support/service';

const HOST = 'inside.test';
const TEST_MS = 180_000;

const chromium = prepareChromium();
if ('problem' in chromium) {
  console.warn(`SKIPPED: the queue board was not opened in a browser: ${chromium.problem}`);
  test.skip(`the queue board in a browser (skipped: ${chromium.problem})`, () => {});
} else {
  describe('the queue board in a browser', () => inBrowser(chromium));
}

function inBrowser({ launch, remove }: Chromium): void {
  let service: Service;
  let browser: Browser;
  let page: Page;
  let watched: Watched;
  beforeAll(async () => {
    service = await startService({ workers: 0, metrics: true, env: { QUEUE_BOARD: 'on' } });
    const redis = new Redis(testServers().redisUrl);
    const jobs = createPartitionJobs(redis, createRedisKeys(String(service.env.REDIS_NAMESPACE)));
    await jobs.schedule([2]);
    await jobs.close();
    redis.disconnect();
    browser = await launch(HOST);
  }, TEST_MS);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    remove();
  }, TEST_MS);
  beforeEach(async () => {
    page = await browser.newPage();
    page.setDefaultTimeout(PAGE_MS);
    watched = watch(page);
  });
  afterEach(async () => {
    // Chromium's advice about what Bull Board fetches ahead; it speaks of no fault.
    const complaints = watched.complaints.filter((it) => !it.includes('was preloaded using link'));
    expect({ elsewhere: elsewhere(page, watched), complaints }).toEqual({
      elsewhere: [],
      complaints: [],
    });
    await page.close();
  });

  const open = (path: string) => {
    const { port } = new URL(String(service.metricsUrls[0]));
    return page.goto(`http://${HOST}:${port}${path}`, { waitUntil: 'networkidle0' });
  };
  const shows = (text: string) =>
    page.waitForFunction(`document.body.textContent.includes(${JSON.stringify(text)})`, {
      timeout: 15_000,
    });

  test.each(['/queues', '/queues/'])(
    'at %s it opens and lists the queue of partition jobs',
    async (path) => {
      await open(path);
      await shows(PARTITION_JOB_QUEUE);
      expect(watched.requests.length).toBeGreaterThan(5);
    },
    TEST_MS,
  );

  test(
    'a partition job is shown with its partition, and there is no button that would change it',
    async () => {
      await open(`/queues/queue/${PARTITION_JOB_QUEUE}?status=waiting`);
      await shows('job of partition 2');
      const texts = await page.$$eval('button', (buttons) =>
        buttons.map((it) => `${it.textContent} ${it.getAttribute('title')} ${it.ariaLabel}`),
      );
      expect(texts.length).toBeGreaterThan(0);
      expect(texts.join()).not.toMatch(/retry|remove|delete|clean|promote|pause|obliterate|empty/i);
    },
    TEST_MS,
  );
}
