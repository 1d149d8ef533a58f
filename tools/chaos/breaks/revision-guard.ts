/**
 * A commit no longer cares whether the matter is still as it was read, nor (its understudy) whether
 * a push was settled by somebody else meanwhile.
 */
import * as matters from '../../../src/storage/ledger/matters';
import * as log from '../../../src/storage/push-log/log';
import { replace } from './replace';

replace(matters, 'createLedger', (original) => (connection) => {
  const ledger = original(connection);
  return {
    load: ledger.load,
    write: async (changes, session) => {
      const stored = await ledger.load(changes.map(({ after }) => after));
      const revisions = new Map(stored.map(({ matterId, revision }) => [matterId, revision]));
      const unguarded = changes.map(({ before, after }) => ({
        before: before && { ...before, revision: revisions.get(before.matterId) ?? 0 },
        after,
      }));
      await ledger.write(unguarded, session);
      return changes.length;
    },
  };
});

replace(log, 'createPushLog', (original) => (connection, options) => {
  const pushLog = original(connection, options);
  return {
    ...pushLog,
    settle: async (pushes, by) => {
      await pushLog.settle(pushes, by);
      return pushes.length;
    },
  };
});
