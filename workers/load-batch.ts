/** What a batch reads before it decides. */
import { groupOf } from '../src/domain/group';
import type { Operation } from '../src/domain/operation';
import type { Ledger } from '../src/storage/ledger/matters';
import { type LogLookups, REPLAY_WINDOW } from '../src/storage/push-log/lookups';
import { CommitConflict } from './failures';
import { type Group, keyOwnerOf, type Loaded } from './plan-batch';

export interface LoadDependencies {
  readonly ledger: Ledger;
  readonly lookups: LogLookups;
  readonly users: { names(usernames: readonly string[]): Promise<Map<string, string>> };
  readonly clock: () => number;
}

/** @throws CommitConflict where the majority did not confirm a prior result yet */
export async function loadBatch(deps: LoadDependencies, groups: readonly Group[]): Promise<Loaded> {
  const pushes = groups.flatMap((group) => group.pushes);
  const [matters, names, keyUses] = await Promise.all([
    deps.ledger.load(groups),
    deps.users.names(pushes.flatMap(({ operation }) => usernamesOf(operation))),
    deps.lookups.keyUses(pushes.map(keyOwnerOf)),
  ]);
  // Not before the matters: a first try whose effect is in them must be among the priorResults.
  const priorResults = await loadPriorResults(
    deps,
    pushes.flatMap((push) => push.idempotencyFingerprint ?? []),
  );
  const byGroup = matters.map(
    (matter) => [groupOf(matter.systemCode, matter.externalId), matter] as const,
  );
  return { matters: new Map(byGroup), names, priorResults, keyUses };
}

/**
 * Prior results are read as new as the matters, which the majority has not confirmed either: a prior
 * result that is missing here while its effect is in the matters would be applied twice. But no guard of
 * the commit holds a prior result, so one that an election could still undo is not answered with.
 */
async function loadPriorResults(
  { lookups, clock }: LoadDependencies,
  fingerprints: readonly string[],
): Promise<Loaded['priorResults']> {
  const since = clock() - REPLAY_WINDOW;
  const newest = await lookups.priorResults(fingerprints, since, 'local');
  const confirmed = await lookups.priorResults([...newest.keys()], since);
  if (confirmed.size < newest.size) throw new CommitConflict('a prior result is not confirmed yet');
  return confirmed;
}

function usernamesOf(operation: Operation): string[] {
  if (operation.op !== 'upsert') return [];
  return (operation.parties ?? []).map(({ username }) => username);
}
