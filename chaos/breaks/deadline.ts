/**
 * Workers apply pushes however late it is, and the ingress (their understudy) answers at the
 * deadline without ending the push in the log.
 */
import * as finalize from '../../src/push-log/finalize';
import * as lanes from '../../src/queue/lanes';
import { replace } from './replace';

replace(lanes, 'createLanes', (original) => (redis, keys, perLane) => {
  const real = original(redis, keys, perLane);
  const FOREVER = 9_999_999_999_999;
  return {
    ...real,
    read: async (lane, holder) => {
      const read = await real.read(lane, holder);
      return { ...read, pushes: read.pushes.map((push) => ({ ...push, deadline: FOREVER })) };
    },
    // The head that a trim looks for has the deadline in it.
    finish: async (read, replies) => {
      const again = await real.read(read.lane, read.holder);
      const deadlines = new Map(again.pushes.map(({ id, deadline }) => [id, deadline]));
      const pushes = read.pushes.map((push) => ({
        ...push,
        deadline: deadlines.get(push.id) ?? push.deadline,
      }));
      return real.finish({ ...read, pushes }, replies);
    },
  };
});

replace(
  finalize,
  'createFinalize',
  () => () => async (pushes) => pushes.map(({ settlement }) => settlement),
);
