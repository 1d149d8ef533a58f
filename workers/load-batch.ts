/** What a batch reads before it decides. */
import { groupOf } from '../src/domain/group';
import type { Operation } from '../src/domain/operation';
import type { Ledger } from '../src/ledger/matters';
import { type LogLookups, REPLAY_WINDOW } from '../src/push-log/lookups';
import { CommitConflict } from './failures';
import { type Group, keyOwnerOf, type Loaded } from './plan-batch';

export interface LoadDependencies {
  readonly ledger: Ledger;
  readonly lookups: LogLookups;
  readonly users: { names(usernames: readonly string[]): Promise<Map<string, string>> };
  readonly clock: () => number;
}

/** @throws CommitConflict where a precedent is too new to be told of */
export async function loadBatch(deps: LoadDependencies, groups: readonly Group[]): Promise<Loaded> {
  const pushes = groups.flatMap((group) => group.pushes);
  const [matters, names, keyUses] = await Promise.all([
    deps.ledger.load(groups),
    deps.users.names(pushes.flatMap(({ operation }) => usernamesOf(operation))),
    deps.lookups.keyUses(pushes.map(keyOwnerOf)),
  ]);
  // Not before the matters: a first try whose effect is in them must be among the precedents.
  const precedents = await loadPrecedents(
    deps,
    pushes.flatMap((push) => push.replayKey ?? []),
  );
  const byGroup = matters.map(
    (matter) => [groupOf(matter.systemCode, matter.externalId), matter] as const,
  );
  return { matters: new Map(byGroup), names, precedents, keyUses };
}

/**
 * They are as new as the matters, which are not confirmed by the majority either: one that lacked here
 * what the matters have would be applied twice. But no guard of the commit holds a precedent, so one
 * that could still be undone by an election is told to nobody.
 */
async function loadPrecedents(
  { lookups, clock }: LoadDependencies,
  replayKeys: readonly string[],
): Promise<Loaded['precedents']> {
  const since = clock() - REPLAY_WINDOW;
  const newest = await lookups.precedents(replayKeys, since, 'local');
  const confirmed = await lookups.precedents([...newest.keys()], since);
  if (confirmed.size < newest.size) throw new CommitConflict('a precedent is not confirmed yet');
  return confirmed;
}

function usernamesOf(operation: Operation): string[] {
  if (operation.op !== 'upsert') return [];
  return (operation.parties ?? []).map(({ username }) => username);
}
