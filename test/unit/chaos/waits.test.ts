/** A chaos run waits for nothing that does not come, and ends soon where it is given up. */

import { createRedisKeys } from '../../../src/queue/keys';
import { settleLeftovers } from '../../../tools/chaos/leftovers';
import type { Cluster } from '../../../tools/harness/cluster';
import { startSampling } from '../../../tools/harness/memory';
import { until } from '../../support/wait';

const keys = createRedisKeys('test');
const PARTITION = `${keys.bullPrefix(0)}:partition:6:0`;

/** One whose Redis has these keys; asking its database fails. */
const holding = (...names: readonly string[]) =>
  ({
    keys,
    lookup: { keys: async () => names },
    config: { PUSH_TIMEOUT: 1_000 },
    get db() {
      throw new Error('the push log was asked');
    },
  }) as unknown as Cluster;

test('a wait for the queue ends when the run is given up', async () => {
  const given = new AbortController();
  const cluster = holding(PARTITION);
  const looks = jest.spyOn(cluster.lookup, 'keys');
  const settled = settleLeftovers(cluster, { entries: true, signal: given.signal });
  const ended = expect(settled).rejects.toThrow();
  await until('a second look', async () => looks.mock.calls.length > 1);
  given.abort();
  await ended;
});

test('the push log is waited for only where somebody wants to know', async () => {
  expect(await settleLeftovers(holding(), { entries: false })).toEqual([]);
  await expect(settleLeftovers(holding(), { entries: true })).rejects.toThrow(
    'the push log was asked',
  );
});

test('a look at a server that does not answer is given up', async () => {
  const member = { pid: () => process.pid };
  const cluster = {
    ...{ webs: [member], workers: [], mongo: { members: [member] }, redis: member },
    lookup: { info: () => new Promise(() => undefined) },
  } as unknown as Cluster;
  const seen = await startSampling(cluster).stop();
  expect([...seen.keys()]).toEqual(['web', 'mongo', 'redis']);
});
