/** Checks that retries repeat the outcome without a second effect, and that a key keeps its matter id. */
import { groupOf } from '../../../src/domain/matter';
import type { LogEntry } from '../../../src/storage/push-log';
import type { Evidence, Violation } from './evidence';
import type { CheckedPush, CheckedPushes } from './pushes';

export function checkOneEffect({ all, byId }: CheckedPushes): Violation[] {
  const persisted = new Map<string, CheckedPush>();
  return all.flatMap((push): Violation[] => {
    const what =
      push.entry.state === 'PERSISTED' ? againApplied(push, persisted) : wronglyMarked(push, byId);
    return what === undefined ? [] : [{ rule: 'one-effect', requestId: push.id, what }];
  });
}

/** @param persisted the applied push, by the identity of its tries */
function againApplied(push: CheckedPush, persisted: Map<string, CheckedPush>): string | undefined {
  const identity = tryIdentity(push.entry);
  if (identity === undefined) return undefined;
  const first = persisted.get(identity);
  if (!first) persisted.set(identity, push);
  return (
    first &&
    `PERSISTED, and so is ${first.id} with the same key and body: REPLAYED is expected for one of them`
  );
}

function wronglyMarked(
  { entry }: CheckedPush,
  byId: ReadonlyMap<string, CheckedPush>,
): string | undefined {
  const { state, revision, duplicateOf } = entry;
  if (revision !== undefined) return `${state} with revision ${revision}: expected none`;
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
        `${first.externalId}: expected the result of the same push`;
}

/** The same for all tries of one push; undefined without an idempotency key, when each try is a push of its own. */
function tryIdentity(entry: LogEntry): string | undefined {
  const { clientId, operation, idempotencyKey, bodyHash } = entry;
  if (idempotencyKey === undefined) return undefined;
  return [clientId, operation, idempotencyKey, bodyHash].join('\n');
}

/** Compares the matter ids of all accepted pushes of a key and of its stored matter. */
export function checkMatterIds({ matters }: Evidence, { all }: CheckedPushes): Violation[] {
  const ids = new Map<string, bigint>();
  for (const { systemCode, externalId, matterId } of matters) {
    ids.set(groupOf(systemCode, externalId), matterId);
  }
  return all.flatMap(({ id, entry }): Violation[] => {
    const { state, systemCode = '', externalId = '', matterId } = entry;
    if (state !== 'PERSISTED' && state !== 'REPLAYED') return [];
    const key = groupOf(systemCode, externalId);
    const expected = ids.get(key);
    if (expected === undefined && matterId !== undefined) ids.set(key, matterId);
    if (matterId !== undefined && (expected === undefined || String(expected) === String(matterId)))
      return [];
    const what = `matter ${matterId}, expected ${expected ?? 'an id'}`;
    return [{ rule: 'one-matter-id', requestId: id, externalId, what }];
  });
}
