/** What callers sent: all tries of an operation together, found again by what its entries say. */
import { createHash } from 'node:crypto';
import { createBodyParsers, type ParsedBody } from '../../../src/protocol/requests';
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import type { Attempt, History } from '../history';

export interface SentOperation {
  /** Its first try: client, system, name, body and key are those of all. */
  readonly first: Attempt;
  /** The tries of which nobody knows what became. */
  readonly unanswered: readonly Attempt[];
  /** As the contract reads its body, each time anew; undefined where it rejects it. */
  parsed(): ParsedBody | undefined;
}

export interface SentOperations {
  /** The operation that an entry belongs to; undefined where nobody sent it. */
  of(entry: Pick<LogEntry, 'clientId' | 'operation' | 'bodyHash'>): SentOperation | undefined;
  /** The operation that an attempt tries. */
  triedBy(attempt: Attempt): SentOperation | undefined;
}

interface Tries {
  readonly first: Attempt;
  readonly unanswered: Attempt[];
}

/** @throws Error where two operations cannot be told apart: the callers of the run are at fault */
export function collectOperations(history: History, timeZone: string): SentOperations {
  const parse = createReader(timeZone);
  const tries = new Map<number, Tries>();
  for (const attempt of history.attempts) {
    const known = tries.get(attempt.operation) ?? { first: attempt, unanswered: [] };
    if (known.first === attempt) tries.set(attempt.operation, known);
    const { kind } = attempt.end;
    if (kind === 'lost' || kind === 'hung') known.unanswered.push(attempt);
  }
  const byNumber = new Map<number, SentOperation>();
  const byIdentity = new Map<string, SentOperation>();
  for (const [number, { first, unanswered }] of tries) {
    const { clientId, name: operation, body } = first;
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const identity = identityOf({ clientId, operation, bodyHash });
    if (byIdentity.has(identity)) throw new Error(`operation ${number} has the body of another`);
    const sent = { first, unanswered, parsed: () => parse(first) };
    byNumber.set(number, sent);
    byIdentity.set(identity, sent);
  }
  return {
    of: (entry) => byIdentity.get(identityOf(entry)),
    triedBy: (attempt) => byNumber.get(attempt.operation),
  };
}

function identityOf(entry: Pick<LogEntry, 'clientId' | 'operation' | 'bodyHash'>): string {
  return [entry.clientId, entry.operation, entry.bodyHash].join('\n');
}

function createReader(timeZone: string) {
  // Whether an instant lay too far ahead was for the web process to say, at its time.
  const parsers = createBodyParsers({ timeZone, clock: () => Number.POSITIVE_INFINITY });
  return ({ name, body }: Attempt): ParsedBody | undefined => {
    try {
      return parsers[name](JSON.parse(body)).data;
    } catch {
      // Not parsing is the answer itself: such a body must not take effect.
      return undefined;
    }
  };
}
