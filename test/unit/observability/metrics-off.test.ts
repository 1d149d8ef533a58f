/** A process without a METRICS_PORT: nothing is kept, and the library is not even loaded. */

import { NO_METRICS } from '../../../src/observability/metrics';
import { startMetrics } from '../../../src/observability/observability';
import type { MetricsOptions } from '../../../src/observability/options';
// Everything that a process starts with.
import '../../../src/process';

jest.mock('prom-client', () => {
  throw new Error('the library was loaded');
});

const never = () => Promise.reject(new Error('nobody asks'));
const options = (port: number): MetricsOptions => ({
  type: 'web',
  host: '127.0.0.1',
  port,
  log: () => undefined,
  servers: {
    ...{ pingDatabase: never, pingQueue: never, pingPrimary: never },
    ...{ partitions: never, workers: never },
  },
  clock: Date.now,
  redisTime: never,
});

test('without a port there are no metrics', async () => {
  const { metrics, url, close } = await startMetrics(options(0));
  expect(metrics).toBe(NO_METRICS);
  expect(url).toBeUndefined();
  await close();
});

test('that would be noticed', () => {
  expect(() => jest.requireActual<object>('../../../src/observability/metrics/prometheus')).toThrow(
    'the library was loaded',
  );
});
