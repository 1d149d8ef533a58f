/** One line from its first try to its end: accepted, refused for good, or out of retries. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailure } from '../failure';
import { backoff, type Gate } from './gate';
import type { OutgoingPush, Sender } from './sender';
import { type Accepted, concernsAllLines, isRateLimit, judge, type Refused } from './verdict';

export interface Settling {
  readonly sender: Sender;
  readonly gate: Gate;
  /** Most tries after the first; being told to slow down is not counted. */
  readonly retries: number;
  /** Stops waiting: the line stays unsettled. */
  readonly stop: AbortSignal;
  readonly onRetry: () => void;
}

/** A push that waited this often for its turn under the rate limit is given up. */
const MAX_RATE_LIMITED = 100;
/** Nobody can be reached at all: it lies in the address or the network, not in the line. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * The idempotency key makes it safe to try again after a lost answer: a try that had been applied
 * is answered with its first outcome, it does not undo what came after it.
 *
 * @returns undefined where it was stopped before it was settled
 * @throws CommandFailure where every other line would fail the same way: the run should end
 */
export async function pushUntilSettled(
  push: OutgoingPush,
  settling: Settling,
): Promise<Accepted | Refused | undefined> {
  const { gate, stop } = settling;
  let retries = 0;
  let rateLimited = 0;
  for (;;) {
    await gate.pass(stop).catch(() => undefined);
    if (stop.aborted) return undefined;
    const verdict = await settling.sender.send(push).then(judge, noAnswer);
    if (verdict.kind === 'accepted') return verdict;
    if (concernsAllLines(verdict)) throw stopsTheRun(verdict);
    if (!verdict.retryable) return verdict;
    if (stop.aborted) return undefined;
    if (isRateLimit(verdict)) {
      rateLimited += 1;
      if (rateLimited > MAX_RATE_LIMITED) return verdict;
      gate.pause(verdict.retryAfter ?? backoff(Math.min(rateLimited, 5)));
    } else {
      retries += 1;
      if (retries > settling.retries) return givenUp(verdict);
      await sleep(backoff(retries, verdict.retryAfter), undefined, { signal: stop }).catch(
        () => {},
      );
    }
    settling.onRetry();
  }
}

function noAnswer(error: NodeJS.ErrnoException): Refused {
  return {
    kind: 'refused',
    code: 0,
    reason: error.code ?? 'NETWORK_ERROR',
    // A host with several addresses fails with one error around theirs, which has no text.
    message: error.message || (error.code ?? error.name),
    requestId: null,
    retryable: true,
    retryAfter: undefined,
  };
}

function givenUp(verdict: Refused): Refused {
  if (!UNREACHABLE.has(verdict.reason)) return verdict;
  throw new CommandFailure(`the service cannot be reached: ${verdict.message}`);
}

function stopsTheRun({ code, reason, message }: Refused): CommandFailure {
  return new CommandFailure(`the service refuses every push: ${code} ${reason} ${message}`);
}
