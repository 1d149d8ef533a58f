/** Which entries of the log can be sent again, and why the others cannot. */

import { inBatches } from '../concurrency/in-batches';
import { OPERATIONS } from '../domain/operation';
import { isReason, PushError } from '../protocol/errors';
import type { Bodies } from '../storage/push-log/bodies';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { LogLookups } from '../storage/push-log/lookups';
import { hadEffect, type LoggedPush } from './resend-push';
import { externalIdIn } from './validate-push';

export const SKIPPED = {
  NOT_A_PUSH: 'not a push',
  NOT_AUTHENTICATED: 'rejected for its signature or its client',
  A_RESEND: 'itself sent again by an operator (--request-id sends it all the same)',
  ONLY_ANSWERED: 'a retry that was answered with the outcome of its first try',
  STILL_QUEUED: 'still waiting for its turn',
  ALREADY_RESENT: 'was sent again already (--again sends it once more)',
  CALLER_RETRIED: 'its caller sent it again itself, and that one was persisted',
  BODY_GONE: 'its body is not kept, or not any more',
  HELD_BACK: 'behind a push of its matter that failed: run it again',
} as const;
export type Skipped = keyof typeof SKIPPED;

export type Selected = { readonly kind: 'push'; readonly push: LoggedPush } | SkippedPush;

export interface SkippedPush {
  readonly kind: 'skipped';
  readonly entry: LogEntry;
  readonly why: Skipped;
}

export interface SelectDependencies {
  readonly bodies: Bodies;
  readonly lookups: Pick<LogLookups, 'resent' | 'keyUses'>;
  /** Send again also what was sent again before. */
  readonly again: boolean;
  /** It was asked for by its request id: what stands for another push is sent too. */
  readonly byId: boolean;
}

const BATCH = 100;

/** Keeps the order of the entries; bodies are read as they are needed. */
export async function* selectPushes(
  entries: AsyncIterable<LogEntry>,
  deps: SelectDependencies,
): AsyncGenerator<Selected> {
  for await (const batch of inBatches(entries, BATCH)) yield* await selectBatch(batch, deps);
}

async function selectBatch(
  entries: readonly LogEntry[],
  deps: SelectDependencies,
): Promise<Selected[]> {
  const ids = entries.map(({ _id }) => String(_id));
  const [kept, sent, uses] = await Promise.all([
    deps.bodies.find(ids),
    deps.again ? new Set<string>() : deps.lookups.resent(ids),
    // However long ago: a push must not undo what came after its caller's own retry.
    deps.lookups.keyUses(entries),
  ]);
  return entries.map((entry): Selected => {
    const id = String(entry._id);
    const body = kept.get(id);
    const isRetried = !hadEffect(entry) && uses.tookEffect(entry);
    const why =
      whyNot(entry, deps.byId) ??
      (sent.has(id)
        ? 'ALREADY_RESENT'
        : isRetried
          ? 'CALLER_RETRIED'
          : body
            ? undefined
            : 'BODY_GONE');
    if (why !== undefined || !body || !isPush(entry)) {
      return { kind: 'skipped', entry, why: why ?? 'NOT_A_PUSH' };
    }
    // Rejected before it was looked into, it may not say yet which matter it is about.
    const externalId = entry.externalId ?? externalIdIn(body);
    const about = externalId === undefined ? entry : { ...entry, externalId };
    return { kind: 'push', push: { entry: about, body } };
  });
}

function whyNot(entry: LogEntry, byId: boolean): Skipped | undefined {
  // Only what the client signed, for this very operation, may act in its name.
  if (!isSigned(entry)) return 'NOT_AUTHENTICATED';
  if (!isPush(entry)) return 'NOT_A_PUSH';
  if (entry.state === 'QUEUED') return 'STILL_QUEUED';
  if (byId) return undefined;
  if (entry.resentFrom !== undefined) return 'A_RESEND';
  return entry.state === 'REPLAYED' ? 'ONLY_ANSWERED' : undefined;
}

function isSigned({ secretId, resentFrom, state, result }: LogEntry): boolean {
  if (secretId === undefined && resentFrom === undefined) return false;
  if (state !== 'REFUSED') return true;
  // What a newer version rejected may have been rejected for its signature.
  return isReason(result) && ![401, 403].includes(new PushError(result).code);
}

function isPush(entry: LogEntry): entry is LoggedPush['entry'] {
  const isOperation = (OPERATIONS as readonly string[]).includes(entry.operation);
  return isOperation && entry.systemCode !== undefined;
}
