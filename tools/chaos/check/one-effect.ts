/** Retries repeat, they do not apply again; and a key keeps its matter id. */
import { groupOf } from '../../../src/domain/group';
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import type { Evidence, Violation } from './evidence';
import type { Push, Pushes } from './pushes';

export function checkOneEffect({ all, byId }: Pushes): Violation[] {
  const persisted = new Map<string, Push>();
  return all.flatMap((push): Violation[] => {
    const what =
      push.entry.state === 'PERSISTED' ? againApplied(push, persisted) : wronglyMarked(push, byId);
    return what === undefined ? [] : [{ rule: 'one-effect', requestId: push.id, what }];
  });
}

/** @param persisted the push that was applied, by what all tries of it have in common */
function againApplied(push: Push, persisted: Map<string, Push>): string | undefined {
  const identity = tryIdentity(push.entry);
  if (identity === undefined) return undefined;
  const first = persisted.get(identity);
  if (!first) persisted.set(identity, push);
  return (
    first && `PERSISTED, and so is ${first.id} with the same key and body: REPLAYED is due for one`
  );
}

function wronglyMarked({ entry }: Push, byId: ReadonlyMap<string, Push>): string | undefined {
  const { state, revision, duplicateOf } = entry;
  if (revision !== undefined) return `${state} with revision ${revision}: due is none`;
  if (state !== 'REPLAYED') return undefined;
  const first = byId.get(String(duplicateOf))?.entry;
  if (!first) return `REPLAYED from ${duplicateOf}, which is not in the log`;
  const isSame =
    first.state === 'PERSISTED' &&
    tryIdentity(first) !== undefined &&
    tryIdentity(first) === tryIdentity(entry) &&
    first.externalId === entry.externalId &&
    first.result === entry.result;
  return isSame
    ? undefined
    : `REPLAYED ${entry.result} from ${duplicateOf}, which is ${first.state} ${first.result} of ` +
        `${first.externalId}: due is what the same push came to`;
}

/** What all tries of one push have in common; undefined where each try is a push of its own. */
function tryIdentity(entry: LogEntry): string | undefined {
  const { clientId, operation, idempotencyKey, bodyHash } = entry;
  if (idempotencyKey === undefined) return undefined;
  return [clientId, operation, idempotencyKey, bodyHash].join('\n');
}

/** The matter id of every accepted push of a key, and of the matter that is stored under it. */
export function checkMatterIds({ matters }: Evidence, { all }: Pushes): Violation[] {
  const ids = new Map<string, bigint>();
  for (const { systemCode, externalId, matterId } of matters) {
    ids.set(groupOf(systemCode, externalId), matterId);
  }
  return all.flatMap(({ id, entry }): Violation[] => {
    const { state, systemCode = '', externalId = '', matterId } = entry;
    if (state !== 'PERSISTED' && state !== 'REPLAYED') return [];
    const key = groupOf(systemCode, externalId);
    const due = ids.get(key);
    if (due === undefined && matterId !== undefined) ids.set(key, matterId);
    if (matterId !== undefined && (due === undefined || String(due) === String(matterId)))
      return [];
    const what = `matter ${matterId}, due is ${due ?? 'some id'}`;
    return [{ rule: 'one-matter-id', requestId: id, externalId, what }];
  });
}
