/**
 * Workers apply pushes however late it is, and the web process (their understudy) answers at the
 * deadline without ending the push in the log.
 */

import * as partitions from '../../../src/queue/partitions';
import * as finalize from '../../../src/storage/push-log/finalize';
import { replace } from './replace';

replace(partitions, 'createPartitions', (original) => (redis, keys, limits, time) => {
  const real = original(redis, keys, limits, time);
  const FOREVER = 9_999_999_999_999;
  /** The item header that a trim looks for has the deadline in it. */
  const deadlines = new Map<string, number>();
  return {
    ...real,
    read: async (taken, owner, most) => {
      const batch = await real.read(taken, owner, most);
      const records = batch.records.map(({ partition, pushes, bytes }) => {
        for (const { id, deadline } of pushes) deadlines.set(id, deadline);
        return { partition, bytes, pushes: pushes.map((push) => ({ ...push, deadline: FOREVER })) };
      });
      return { ...batch, records };
    },
    acknowledge: (batch, replies) => {
      const records = batch.records.map(({ partition, pushes, bytes }) => ({
        partition,
        bytes,
        pushes: pushes.map((push) => ({ ...push, deadline: deadlines.get(push.id) ?? FOREVER })),
      }));
      return real.acknowledge({ ...batch, records }, replies);
    },
  };
});

replace(
  finalize,
  'createFinalize',
  () => () => async (pushes) => pushes.map(({ settlement }) => settlement),
);
