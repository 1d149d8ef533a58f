/** Groups that cannot be written are ended after all others are committed, and keep none of them from it. */
import { createLogger } from '../../../src/infra/logger';
import { NO_METRICS } from '../../../src/observability/metrics';
import type { WaitingPush } from '../../../src/queue/records';
import type { LogLookups, PushToSettle, Settlement } from '../../../src/storage/push-log';
import { CommitConflict, PlanFailed } from '../../../workers/failures';
import { type Group, groupPushes } from '../../../workers/plan-batch';
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
function start(
  end: (pushes: readonly PushToSettle[]) => void,
  instead: Partial<ApplyGroupsDependencies> & { groups?: readonly Group[] } = {},
) {
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
    ...instead,
  };
  return { happened, applied: applyGroups(deps, instead.groups ?? groups) };
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

test('after the time for retries, contended groups are given up together', async () => {
  const names = Array.from({ length: 200 }, (_, n) => `BAD-${n}`);
  const conflict = new CommitConflict('write conflict');
  const commit = jest.fn(async () => Promise.reject(conflict));
  // The first failure happens at once, and the time for retries is over at the second one.
  const now = jest.spyOn(performance, 'now').mockReturnValue(10_000);
  now.mockReturnValueOnce(0).mockReturnValueOnce(0);
  const { applied } = start(() => undefined, { commit, groups: groupPushes(names.map(push)) });
  const states = await applied.finally(() => now.mockRestore());
  // A binary tree: 32 leaves of at most 8 groups.
  expect(commit).toHaveBeenCalledTimes(63);
  expect(states.size).toBe(200);
  expect(new Set([...states.values()].map((settlement) => settlement?.state))).toEqual(
    new Set(['REFUSED']),
  );
});

describe("a line of a caller's batch behind a line that cannot be applied now", () => {
  const UNAVAILABLE: Settlement = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' };
  const SKIPPED: Settlement = { state: 'REFUSED', reason: 'SKIPPED_AFTER_FAILURE' };
  const line = (id: string, previous?: string): WaitingPush => ({
    ...push(id),
    ...{ externalId: 'M', previous },
  });
  const lines = [line('1'), line('2', '1'), line('3', '2')];

  /**
   * A push log in which the first final state of a push remains. Each call of `finalize` is one entry of `calls`.
   *
   * @param known final states in the push log before the calls; undefined: an open transaction locks the entry
   */
  function pushLog(known: Readonly<Record<string, Settlement | undefined>> = {}) {
    const states = new Map(Object.entries(known));
    const calls: string[][] = [];
    const finalize: ApplyGroupsDependencies['finalize'] = async (pushes) => {
      if (pushes.length > 0) calls.push(pushes.map(({ id }) => id));
      for (const { id, settlement } of pushes) if (!states.has(id)) states.set(id, settlement);
      return new Map(pushes.map(({ id }) => [id, states.get(id)]));
    };
    return { finalize, calls };
  }

  /** @param known request ids of the entries that are found, each still queued */
  const depsOf = (finalize: ApplyGroupsDependencies['finalize'], known: readonly string[]) => ({
    finalize,
    lookups: {
      settlements: async (ids: readonly string[]) =>
        new Map(ids.filter((id) => known.includes(id)).map((id) => [id, undefined])),
    } as Partial<LogLookups> as LogLookups,
    checkOwnership: async () => undefined,
    logger: createLogger('test', 'silent'),
    metrics: NO_METRICS,
  });

  /**
   * @param first the final state of the first line in the push log, whatever this worker wants to write; undefined: it
   *   is unknown
   */
  async function apply(
    first: Settlement | undefined,
    commit: ApplyGroupsDependencies['commit'],
    known: readonly string[] = ['1', '2', '3'],
  ) {
    const deps = { ...depsOf(pushLog({ 1: first }).finalize, known), commit };
    return Object.fromEntries(await applyGroups(deps, groupPushes(lines)));
  }

  const fails = async () => {
    throw new CommitConflict('a prior result is not confirmed yet');
  };

  test('is skipped if the earlier line fails', async () => {
    expect(await apply(UNAVAILABLE, fails)).toEqual({ 1: UNAVAILABLE, 2: SKIPPED, 3: SKIPPED });
  });

  test('is not skipped if an earlier owner has persisted the earlier line, or may have', async () => {
    const expected = { 2: UNAVAILABLE, 3: UNAVAILABLE };
    expect(await apply(DONE, fails)).toEqual({ 1: DONE, ...expected });
    expect(await apply(undefined, fails)).toEqual({ 1: undefined, ...expected });
  });

  test('two calls finalize all lines that are given up, whatever the cause: the first lines first', async () => {
    const other = (id: string, previous?: string) => ({ ...line(id, previous), externalId: 'N' });
    const all = [...lines, other('4'), other('5', '4')];
    const log = pushLog();
    const deps = {
      ...depsOf(log.finalize, ['1', '2', '3', '4', '5']),
      commit: async ([group]: readonly Group[]) => {
        if (group?.externalId === 'N') throw new PlanFailed('no plan');
        return fails();
      },
    };
    expect(Object.fromEntries(await applyGroups(deps, groupPushes(all)))).toEqual({
      ...{ 1: UNAVAILABLE, 2: SKIPPED, 3: SKIPPED },
      ...{ 4: FAILED, 5: FAILED },
    });
    expect(log.calls.map((ids) => ids.sort().join(''))).toEqual(['14', '235']);
  });

  test('behind a line that failed for good but that an earlier owner has persisted, it fails by itself', async () => {
    const commit = async () => {
      throw new PlanFailed('no plan');
    };
    expect(await apply(DONE, commit)).toEqual({ 1: DONE, 2: FAILED, 3: FAILED });
    expect(await apply(UNAVAILABLE, commit)).toEqual({ 1: UNAVAILABLE, 2: SKIPPED, 3: SKIPPED });
  });

  /** Fails until the first line, whose entry is missing, no longer takes part. */
  const failsWithFirst: ApplyGroupsDependencies['commit'] = async (together) => {
    const ids = together.flatMap(({ pushes }) => pushes.map(({ id }) => id));
    if (ids.includes('1')) throw new CommitConflict('a push was settled before');
    return new Map(ids.map((id) => [id, DONE]));
  };

  test('depends on the final state of an earlier line whose entry was not found', async () => {
    const found = ['2', '3'];
    const statesWith = (first: Settlement | undefined) => apply(first, failsWithFirst, found);
    expect(await statesWith(UNAVAILABLE)).toEqual({ 1: UNAVAILABLE, 2: SKIPPED, 3: SKIPPED });
    expect(await statesWith(DONE)).toEqual({ 1: DONE, 2: DONE, 3: DONE });
    expect(await statesWith(undefined)).toEqual({ 1: undefined, 2: UNAVAILABLE, 3: UNAVAILABLE });
  });
});
