/** Sends selected pushes again, those of one matter in their order, others side by side. */
import { setTimeout as sleep } from 'node:timers/promises';
import { groupOf } from '../../../src/domain/group';
import { PushError } from '../../../src/protocol/errors';
import { type LoggedPush, mayPassLater, type ResendPush } from '../../../src/pushes/resend-push';
import type { Selected, SkippedPush } from '../../../src/pushes/select-pushes';
import type { Settlement } from '../../../src/storage/push-log/settlement';
import { backoff } from '../../client/backoff';
import { runOrdered } from '../run-ordered';

export interface Resent {
  /** Of the push in the log. */
  readonly resentFrom: string;
  /** Of the new one; null where its body does not pass any more. */
  readonly requestId: string | null;
  readonly systemCode: string;
  readonly externalId: string | null;
  readonly operation: string;
  readonly accepted: boolean;
  /** Rejected now, but not for good. */
  readonly mayPassLater: boolean;
  /** The outcome, or the reason of the rejection. */
  readonly result: string;
}

export interface RunOptions {
  readonly concurrency: number;
  /** Once aborted nothing new is sent. */
  readonly stop: AbortController;
  readonly onDone: (resent: Resent) => Promise<void>;
  readonly onSkipped: (skipped: SkippedPush) => Promise<void>;
}

/** Pushes that are read ahead while others wait for an earlier push of their matter. */
const WINDOW = 1_000;
const MAX_TRIES = 6;

/** @throws what ends the run: the database or the queue gone for good */
export async function runResend(
  selected: AsyncIterable<Selected>,
  resend: ResendPush,
  { concurrency, stop, onDone, onSkipped }: RunOptions,
): Promise<void> {
  // What comes behind a push that failed would be applied before it: it waits for the next run.
  const failed = new Set<string>();
  const work = async (push: LoggedPush) => {
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

const groupOfPush = ({ entry }: LoggedPush) =>
  entry.externalId === undefined ? undefined : groupOf(entry.systemCode, entry.externalId);

async function* pushesOf(
  selected: AsyncIterable<Selected>,
  onSkipped: RunOptions['onSkipped'],
): AsyncGenerator<LoggedPush> {
  for await (const one of selected) {
    if (one.kind === 'push') yield one.push;
    else await onSkipped(one);
  }
}

async function untilSettled(
  push: LoggedPush,
  resend: ResendPush,
  signal: AbortSignal,
): Promise<Resent> {
  const { _id, systemCode, externalId = null, operation } = push.entry;
  const about = { resentFrom: String(_id), systemCode, externalId, operation };
  for (let tries = 1; ; tries += 1) {
    try {
      const { requestId, settlement } = await resend(push);
      const isLast = tries === MAX_TRIES || signal.aborted;
      const later = mayPassLater(settlement);
      if (isLast || !later) {
        return { ...about, requestId, mayPassLater: later, ...told(settlement) };
      }
    } catch (error) {
      // Its body does not pass any more: a user who left, a status that is rejected today.
      if (!(error instanceof PushError) || error.retryable) throw error;
      const { reason: result } = error;
      return { ...about, requestId: null, accepted: false, mayPassLater: false, result };
    }
    await sleep(backoff(tries));
  }
}

function told(settlement: Settlement | undefined): Pick<Resent, 'accepted' | 'result'> {
  if (!settlement || settlement.state === 'EXPIRED') {
    return { accepted: false, result: 'CONFIRMATION_TIMEOUT' };
  }
  if (settlement.state === 'REFUSED') return { accepted: false, result: settlement.reason };
  const { outcome, state } = settlement;
  return { accepted: true, result: state === 'REPLAYED' ? `REPLAYED ${outcome}` : outcome };
}
