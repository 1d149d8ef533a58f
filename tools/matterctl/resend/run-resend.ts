/** Sends selected pushes again: pushes of one matter in their order, pushes of different matters concurrently. */
import { setTimeout as sleep } from 'node:timers/promises';
import { groupOf } from '../../../src/domain/matter';
import { PushError } from '../../../src/protocol/errors';
import type { PushAnswer } from '../../../src/pushes/pushes';
import type { OperatorResend, Planned, SkippedPush, StoredPush } from '../../../src/pushes/resend';
import { backoff } from '../../client/backoff';
import { runOrdered } from '../run-ordered';

export interface Resent {
  /** Request id of the original push. */
  readonly resentFrom: string;
  /** Request id of the new push; null if its body is no longer valid, so that it was not sent. */
  readonly requestId: string | null;
  readonly systemCode: string;
  readonly externalId: string | null;
  readonly operation: string;
  readonly accepted: boolean;
  /** Whether the push was rejected with a retryable reason. */
  readonly mayPassLater: boolean;
  /** The outcome, or the reason of the rejection. */
  readonly result: string;
}

export interface RunOptions {
  readonly concurrency: number;
  /** After its abort, no further push is sent. */
  readonly stop: AbortController;
  readonly onDone: (resent: Resent) => Promise<void>;
  readonly onSkipped: (skipped: SkippedPush) => Promise<void>;
}

/** Maximum pushes in memory, including those that wait for an earlier push of their matter. */
const WINDOW = 1_000;
const MAX_TRIES = 6;

/** @throws the error of the database or the queue if it remains unavailable */
export async function runResend(
  selected: AsyncIterable<Planned>,
  resend: OperatorResend,
  { concurrency, stop, onDone, onSkipped }: RunOptions,
): Promise<void> {
  // Later pushes of a matter are not sent after a failed one, because they would then be applied before it.
  const failed = new Set<string>();
  const work = async (push: StoredPush) => {
    const group = groupOfPush(push);
    if (group !== undefined && failed.has(group)) {
      await onSkipped({ kind: 'skipped', entry: push.entry, why: 'HELD_BACK' });
      return;
    }
    const resent = await untilSettled(push, resend, stop.signal);
    if (resent.mayPassLater && group !== undefined) failed.add(group);
    await onDone(resent);
  };
  await runOrdered(pushesOf(selected, onSkipped), {
    keyOf: groupOfPush,
    weightOf: ({ body }) => 1 / WINDOW + body.length / (64 * 1024 * 1024),
    concurrency,
    work,
    stop,
  });
}

const groupOfPush = ({ entry }: StoredPush) =>
  entry.externalId === undefined ? undefined : groupOf(entry.systemCode, entry.externalId);

async function* pushesOf(
  selected: AsyncIterable<Planned>,
  onSkipped: RunOptions['onSkipped'],
): AsyncGenerator<StoredPush> {
  for await (const one of selected) {
    if (one.kind === 'push') yield one.push;
    else await onSkipped(one);
  }
}

async function untilSettled(
  push: StoredPush,
  resend: OperatorResend,
  signal: AbortSignal,
): Promise<Resent> {
  const { _id, systemCode, externalId = null, operation } = push.entry;
  const common = { resentFrom: String(_id), systemCode, externalId, operation };
  for (let tries = 1; ; tries += 1) {
    try {
      const { requestId, answer } = await resend(push);
      const isLast = tries === MAX_TRIES || signal.aborted;
      const mayPassLater = answer instanceof PushError && answer.retryable;
      if (isLast || !mayPassLater) {
        return { ...common, requestId, mayPassLater, ...resultOf(answer) };
      }
    } catch (error) {
      // The body is no longer valid, for example because a user has left.
      if (!(error instanceof PushError) || error.retryable) throw error;
      const { reason: result } = error;
      return { ...common, requestId: null, accepted: false, mayPassLater: false, result };
    }
    await sleep(backoff(tries));
  }
}

function resultOf(answer: PushAnswer): Pick<Resent, 'accepted' | 'result'> {
  if (answer instanceof PushError) return { accepted: false, result: answer.reason };
  const { outcome } = answer.data;
  return { accepted: true, result: answer.replayed ? `REPLAYED ${outcome}` : outcome };
}
