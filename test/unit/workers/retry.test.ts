/** Groups that cannot be written are ended after all others are committed, and keep none of them from it. */
import { createLogger } from '../../../src/infra/logger';
import { NO_METRICS } from '../../../src/observability/metrics';
import type { WaitingPush } from '../../../src/queue/records';
import type { LogLookups, PushToSettle, Settlement } from '../../../src/storage/push-log';
import { PlanFailed } from '../../../workers/failures';
import { groupPushes } from '../../../workers/plan-batch';
import { type ApplyGroupsDependencies, applyGroups } from '../../../workers/retry';
import { aPush, NOW } from '../../support/builders';

const DONE: Settlement = { state: 'PERSISTED', outcome: 'CREATED', matterId: '1' };
const FAILED: Settlement = { state: 'REFUSED', reason: 'OPERATION_FAILED' };

const push = (id: string): WaitingPush => ({
  ...aPush({ id, externalId: id }),
  deadline: NOW + 1,
  queuedAt: NOW - 5,
});
const groups = groupPushes(['BAD-1', 'A', 'BAD-2', 'B'].map(push));

/** @param end the end of pushes without an effect */
function start(end: (pushes: readonly PushToSettle[]) => void) {
  const happened: string[] = [];
  const deps: ApplyGroupsDependencies = {
    commit: async (together) => {
      const names = together.map(({ externalId }) => externalId);
      if (names.some((name) => name.startsWith('BAD'))) throw new PlanFailed('no plan');
      happened.push(`commit ${names}`);
      return new Map(names.map((name) => [name, DONE]));
    },
    finalize: async (pushes) => {
      if (pushes.length === 0) return new Map();
      happened.push(`finalize ${pushes.map(({ id }) => id)}`);
      end(pushes);
      return new Map(pushes.map(({ id, settlement }) => [id, settlement]));
    },
    lookups: {
      settlements: async (ids: readonly string[]) => new Map(ids.map((id) => [id, undefined])),
    } as Partial<LogLookups> as LogLookups,
    checkOwnership: async () => undefined,
    logger: createLogger('test', 'silent'),
    metrics: NO_METRICS,
  };
  return { happened, applied: applyGroups(deps, groups) };
}

test('given-up groups are finalized once, after the commits of all others', async () => {
  const { happened, applied } = start(() => undefined);
  expect(Object.fromEntries(await applied)).toEqual({
    ...{ A: DONE, B: DONE },
    ...{ 'BAD-1': FAILED, 'BAD-2': FAILED },
  });
  expect(happened).toEqual(['commit A', 'commit B', 'finalize BAD-1,BAD-2']);
});

test('a failure to finalize them fails the batch, and stops no commit', async () => {
  const { happened, applied } = start(() => {
    throw new Error('the entry is locked');
  });
  await expect(applied).rejects.toThrow('the entry is locked');
  expect(happened.filter((one) => one.startsWith('commit'))).toEqual(['commit A', 'commit B']);
});
