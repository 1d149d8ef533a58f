/**
 * Workers apply pushes however late it is, and the ingress (their understudy) answers at the
 * deadline without ending the push in the log.
 */
import * as finalize from '../../src/push-log/finalize';
import * as partitions from '../../src/queue/partitions';
import { replace } from './replace';

replace(partitions, 'createPartitions', (original) => (redis, keys, limits, time) => {
  const real = original(redis, keys, limits, time);
  const FOREVER = 9_999_999_999_999;
  /** The head that a trim looks for has the deadline in it. */
  const deadlines = new Map<string, number>();
  return {
    ...real,
    read: async (taken, holder, most) => {
      const round = await real.read(taken, holder, most);
      const heads = round.heads.map(({ partition, pushes, bytes }) => {
        for (const { id, deadline } of pushes) deadlines.set(id, deadline);
        return { partition, bytes, pushes: pushes.map((push) => ({ ...push, deadline: FOREVER })) };
      });
      return { ...round, heads };
    },
    finish: (round, replies) => {
      const heads = round.heads.map(({ partition, pushes, bytes }) => ({
        partition,
        bytes,
        pushes: pushes.map((push) => ({ ...push, deadline: deadlines.get(push.id) ?? FOREVER })),
      }));
      return real.finish({ ...round, heads }, replies);
    },
  };
});

replace(
  finalize,
  'createFinalize',
  () => () => async (pushes) => pushes.map(({ settlement }) => settlement),
);
