/** All uses of an entry's idempotency key: its tries, and whoever else took the key. */
import type { LogSource, ShownEntry } from '../source/log-source';
import { firstEntries } from './first-entries';

export interface Attempt {
  /** From 1, in the order of receipt. */
  readonly attempt: number;
  readonly requestId: string;
  readonly state: ShownEntry['state'];
}

/** As many as are numbered (key-uses.ts). */
const MOST = 100;

/** @returns none without a key */
export async function attemptsOf(
  { systemCode, clientId, operation, idempotencyKey }: ShownEntry,
  source: Pick<LogSource, 'page'>,
): Promise<Attempt[]> {
  if (systemCode === null || idempotencyKey === null) return [];
  const uses = { systemCode, clientId, operation, idempotencyKey };
  const attempts: Attempt[] = [];
  for await (const entry of firstEntries(source, uses, { limit: MOST, oldestFirst: true })) {
    const { requestId, state } = entry;
    attempts.push({ attempt: attempts.length + 1, requestId, state });
  }
  return attempts;
}
