/** All uses of an entry's idempotency key: its tries, and whoever else took the key. */
import type { LogEntry } from '../../push-log/entry-model';
import type { LogSearch } from '../../push-log/search';

export interface Attempt {
  /** From 1, in the order of receipt. */
  readonly attempt: number;
  readonly requestId: string;
  readonly state: LogEntry['state'];
}

/** As many as are numbered (key-uses.ts). */
const MOST = 100;

/** @returns none without a key */
export async function attemptsOf(
  { systemCode, clientId, operation, idempotencyKey }: LogEntry,
  search: LogSearch,
): Promise<Attempt[]> {
  if (systemCode === undefined || idempotencyKey === undefined) return [];
  const { entries } = await search.page(
    { systemCode, clientId, operation, idempotencyKey },
    { limit: MOST, oldestFirst: true },
  );
  return entries.map(({ _id, state }, index) => ({
    attempt: index + 1,
    requestId: String(_id),
    state,
  }));
}
