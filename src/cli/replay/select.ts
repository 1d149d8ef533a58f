/** Which entries of the log can be sent again, and why the others cannot. */
import { OPERATIONS } from '../../domain/operation';
import type { LoggedPush } from '../../ingress/replay-push';
import type { Bodies } from '../../push-log/bodies';
import type { LogEntry } from '../../push-log/entry-model';
import type { LogLookups } from '../../push-log/lookups';

export const SKIPPED = {
  NOT_A_PUSH: 'not a push',
  NOT_AUTHENTICATED: 'its signature did not hold: whoever sent it is unknown',
  STILL_QUEUED: 'still waiting for its turn',
  SENT_AGAIN: 'was sent again already (--again sends it once more)',
  BODY_GONE: 'its body is kept no longer',
} as const;
export type Skipped = keyof typeof SKIPPED;

export type Selected =
  | { readonly kind: 'push'; readonly push: LoggedPush }
  | { readonly kind: 'skipped'; readonly entry: LogEntry; readonly why: Skipped };

export interface SelectDependencies {
  readonly bodies: Bodies;
  readonly lookups: Pick<LogLookups, 'sentAgain'>;
  /** Send again also what was sent again before. */
  readonly again: boolean;
}

const BATCH = 100;

/** The first entries of many. @param onMore told that there are more */
export async function* upTo(
  limit: number,
  entries: AsyncIterable<LogEntry>,
  onMore: () => void,
): AsyncGenerator<LogEntry> {
  let count = 0;
  for await (const entry of entries) {
    if (count === limit) {
      onMore();
      return;
    }
    count += 1;
    yield entry;
  }
}

/** Keeps the order of the entries; bodies are read as they are needed. */
export async function* selectPushes(
  entries: AsyncIterable<LogEntry>,
  deps: SelectDependencies,
): AsyncGenerator<Selected> {
  let batch: LogEntry[] = [];
  for await (const entry of entries) {
    batch.push(entry);
    if (batch.length < BATCH) continue;
    yield* await selectBatch(batch, deps);
    batch = [];
  }
  yield* await selectBatch(batch, deps);
}

async function selectBatch(
  entries: readonly LogEntry[],
  { bodies, lookups, again }: SelectDependencies,
): Promise<Selected[]> {
  const ids = entries.map(({ _id }) => String(_id));
  const [kept, sent] = await Promise.all([
    bodies.find(ids),
    again ? new Set<string>() : lookups.sentAgain(ids),
  ]);
  return entries.map((entry): Selected => {
    const id = String(entry._id);
    const body = kept.get(id);
    const why = whyNot(entry) ?? (sent.has(id) ? 'SENT_AGAIN' : body ? undefined : 'BODY_GONE');
    if (why !== undefined || !body || !isPush(entry)) {
      return { kind: 'skipped', entry, why: why ?? 'NOT_A_PUSH' };
    }
    return { kind: 'push', push: { entry, body } };
  });
}

function whyNot(entry: LogEntry): Skipped | undefined {
  // Only what was signed by the client may act in its name.
  if (entry.secretId === undefined && entry.replayOf === undefined) return 'NOT_AUTHENTICATED';
  if (!isPush(entry)) return 'NOT_A_PUSH';
  return entry.state === 'QUEUED' ? 'STILL_QUEUED' : undefined;
}

function isPush(entry: LogEntry): entry is LoggedPush['entry'] {
  const isOperation = (OPERATIONS as readonly string[]).includes(entry.operation);
  return isOperation && entry.systemCode !== undefined;
}
