/** Who used an idempotency key, in the order of receipt: attempts of a push, and reuse of a key. */
import type { Connection } from 'mongoose';
import { nativeCollection } from '../mongo';
import { entryModel, type LogEntry } from './entry-model';

/** An idempotency key belongs to a client and an operation. */
export interface KeyOwner {
  readonly systemCode?: string;
  readonly clientId: string;
  readonly operation: string;
  readonly idempotencyKey?: string;
}

export type KeyUse = Pick<
  LogEntry,
  '_id' | 'clientId' | 'operation' | 'idempotencyKey' | 'bodyHash' | 'state' | 'queuedAt'
>;

/** Finds the uses of keys, at most 100 of each. */
export type FindKeyUses = (owners: readonly KeyOwner[]) => Promise<KeyUses>;

export interface KeyUses {
  /** The body that a key was first queued with; undefined where it never was. */
  firstBody(owner: KeyOwner): string | undefined;
  /** Whether the same push, with the same body, was persisted under its key. */
  tookEffect(entry: LogEntry): boolean;
  /** The attempt number (1-based) of an entry among the uses of its key; undefined beyond 100. */
  attempt(entry: KeyOwner & Pick<LogEntry, '_id'>): number | undefined;
}

const PER_KEY = 100;
/** Keys are mostly used once; beyond so many uses more, somebody uses one key for everything. */
const SPARE = 1_000;
/** Reads side by side, so that they leave connections for others. */
const AT_A_TIME = 20;
const FIELDS = { clientId: 1, operation: 1, idempotencyKey: 1, bodyHash: 1, state: 1, queuedAt: 1 };

export function createKeyUses(connection: Connection): FindKeyUses {
  const collection = nativeCollection<LogEntry>(entryModel(connection));

  const ofSystem = async (systemCode: string, keys: readonly string[]): Promise<KeyUse[]> => {
    const most = keys.length + SPARE;
    const all = await collection
      .find({ systemCode, idempotencyKey: { $in: [...keys] } })
      .project<KeyUse>(FIELDS)
      .limit(most)
      .toArray();
    if (all.length < most) return all;
    const found: KeyUse[] = [];
    for (let at = 0; at < keys.length; at += AT_A_TIME) {
      const each = keys.slice(at, at + AT_A_TIME).map((key) => firstUses(systemCode, key));
      found.push(...(await Promise.all(each)).flat());
    }
    return found;
  };

  const firstUses = (systemCode: string, idempotencyKey: string) =>
    collection
      .find({ systemCode, idempotencyKey })
      .sort({ _id: 1 })
      .limit(PER_KEY)
      .project<KeyUse>(FIELDS)
      .toArray();

  return async (owners) => {
    const keys = new Map<string, Set<string>>();
    for (const { systemCode, idempotencyKey } of owners) {
      if (systemCode === undefined || idempotencyKey === undefined) continue;
      keys.set(systemCode, (keys.get(systemCode) ?? new Set()).add(idempotencyKey));
    }
    const found = await Promise.all([...keys].map(([system, of]) => ofSystem(system, [...of])));
    return toUses(found.flat());
  };
}

function toUses(found: readonly KeyUse[]): KeyUses {
  const sorted = [...found].sort((a, b) => (String(a._id) < String(b._id) ? -1 : 1));
  const byOwner = new Map<string, KeyUse[]>();
  for (const use of sorted) {
    const uses = byOwner.get(nameOf(use)) ?? [];
    uses.push(use);
    byOwner.set(nameOf(use), uses);
  }
  const usesOf = (owner: KeyOwner) => byOwner.get(nameOf(owner)) ?? [];
  return {
    firstBody: (owner) => usesOf(owner).find(wasQueued)?.bodyHash,
    tookEffect: (entry) =>
      usesOf(entry).some(
        ({ state, bodyHash }) => state === 'PERSISTED' && bodyHash === entry.bodyHash,
      ),
    attempt: (entry) => {
      const place = usesOf(entry).findIndex(({ _id }) => _id.equals(entry._id));
      return place === -1 || place >= PER_KEY ? undefined : place + 1;
    },
  };
}

/** What was rejected before it was queued may be mended and sent again under its key. */
const wasQueued = ({ state, queuedAt }: KeyUse) => state !== 'REFUSED' || queuedAt !== undefined;

const nameOf = ({ clientId, operation, idempotencyKey }: KeyOwner) =>
  [clientId, operation, idempotencyKey].join('\n');
