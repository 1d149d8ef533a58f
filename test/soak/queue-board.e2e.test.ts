/**
 * The queue board in a browser: it opens, lists the partition jobs, complains of nothing and asks
 * nobody else.
 */
import { Redis } from 'ioredis';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../src/queue/keys';
import { createPartitionJobs } from '../../src/queue/partition-jobs';
import { PAGE_MS, type WatchedPage } from '../support/browser';
import { inBrowser } from '../support/browser-rig';
import { shows } from '../support/console-page';
import { testServers } from '../support/service';

const OPTIONS = {
  ...{ host: 'inside.test', workers: 0, metrics: true, env: { QUEUE_BOARD: 'on' } },
  // Chromium's advice about what Bull Board fetches ahead; it speaks of no fault.
  isFault: (complaint: string) => !complaint.includes('was preloaded using link'),
};

inBrowser('the queue board in a browser', OPTIONS, ({ insideUrl, newPage }) => {
  const open = async (path: string): Promise<WatchedPage> => {
    const opened = await newPage();
    const wait = { waitUntil: 'networkidle0', timeout: PAGE_MS } as const;
    await opened.page.goto(`${insideUrl()}${path}`, wait);
    opened.page.setDefaultTimeout(15_000);
    return opened;
  };

  test.each(['/queues', '/queues/'])(
    'at %s it opens and lists the queue of partition jobs',
    async (path) => {
      const { page, requests } = await open(path);
      await shows(page, PARTITION_JOB_QUEUE);
      expect(requests.length).toBeGreaterThan(5);
    },
  );

  test('a partition job is shown with its partition, and there is no button that would change it', async () => {
    const { page } = await open(`/queues/queue/${PARTITION_JOB_QUEUE}?status=waiting`);
    await shows(page, 'job of partition 2');
    const texts = await page.$$eval('button', (buttons) =>
      buttons.map((it) => `${it.textContent} ${it.getAttribute('title')} ${it.ariaLabel}`),
    );
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.join()).not.toMatch(/retry|remove|delete|clean|promote|pause|obliterate|empty/i);
  });

  return async ({ env }) => {
    const redis = new Redis(testServers().redisUrl);
    const jobs = createPartitionJobs(redis, createRedisKeys(String(env.REDIS_NAMESPACE)));
    await jobs.schedule([2]);
    await jobs.close();
    redis.disconnect();
  };
});
