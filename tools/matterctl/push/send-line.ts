/** One line from its first try to its answer: what lies in the service is waited for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../client/backoff';
import { MatterPushError } from '../../client/error';
import type { MatterPushClient, PushResult } from '../../client/matter-push-client';
import { CommandFailure } from '../failure';
import type { PushLine } from './push-line';
import type { Standstill } from './standstill';
import type { Tally } from './tally';
import {
  causeOf,
  duration,
  isOfTheService,
  type Pushing,
  type ServiceState,
  type WaitTeller,
} from './waits';

export interface Sending extends Pushing {
  /** Tries nothing twice by itself, but for a rate. */
  readonly client: Pick<MatterPushClient, 'push'>;
  readonly standstill: Standstill;
  readonly teller: WaitTeller;
  readonly tally: Tally;
  /** Most tries after the first that fail for what may lie in the line. */
  readonly retries: number;
  /** Milliseconds that a line may wait for the service. */
  readonly maxWait: number;
  readonly askService: () => Promise<ServiceState>;
  /** Begins nothing new. */
  readonly stop: AbortSignal;
  /** Cuts off what is under way. */
  readonly cut: AbortSignal;
}

/** The run ended before the line did. */
const UNSETTLED = ['CLOSED', 'ABORTED'];
/** The service's default, in bytes. */
const BODY_LIMIT = 1_048_576;
/** A shorter first wait is not worth a word. */
const SHORT = 2_000;

/**
 * A rejection that lies in the service costs the line nothing. One that may lie in the line, such as a
 * connection that breaks, counts as a try, unless the service is down or says so itself.
 *
 * @returns (the built function) undefined: the run was stopped before the line got its answer
 * @throws (the built function) CommandFailure where the service was never reached, or for `maxWait` not
 */
export function createSendLine(sending: Sending) {
  const { standstill, tally, retries, stop } = sending;
  let wasReached = false;

  return async (
    line: PushLine,
    idempotencyKey: string,
  ): Promise<PushResult | MatterPushError | undefined> => {
    const startedAt = performance.now();
    let counted = 0;
    for (let tries = 1; ; tries += 1) {
      await standstill.pass(line.number);
      if (stop.aborted) return undefined;
      const before = standstill.moves();
      const result = await sendOnce(line, idempotencyKey, sending);
      if (!(result instanceof MatterPushError) || !result.retryable) {
        wasReached = true;
        standstill.moved();
        return result;
      }
      if (UNSETTLED.includes(result.reason)) return undefined;
      wasReached ||= result.code !== 0;
      const hasMoved = standstill.moves() !== before;
      const isCounted = wasReached && (await mayBeTheLine(result, sending));
      if (isCounted) {
        standstill.moved();
        counted += 1;
        if (counted > retries) return namedTooLarge(result, line.body.length);
      }
      throwIfTooLong(result, performance.now() - startedAt, sending);
      tally.retried(result.reason);
      if (isCounted || hasMoved) await pause(tries, result, stop);
      else stand(line, result, sending, wasReached);
    }
  };
}

/** A connection that breaks while too long a body is sent often loses the answer that says so. */
function namedTooLarge(error: MatterPushError, bytes: number): MatterPushError {
  if (error.code !== 0 || bytes <= BODY_LIMIT) return error;
  const message = `${error.message}; the body has ${bytes} bytes, and BODY_LIMIT is ${BODY_LIMIT} by default`;
  return new MatterPushError({ ...error, message, reason: 'BODY_TOO_LARGE' }, error);
}

async function sendOnce(
  { op, body }: PushLine,
  idempotencyKey: string,
  { client, cut }: Sending,
): Promise<PushResult | MatterPushError> {
  try {
    return await client.push(op, body, { idempotencyKey, signal: cut });
  } catch (error) {
    if (error instanceof MatterPushError) return error;
    throw error;
  }
}

const mayBeTheLine = async (rejection: MatterPushError, { askService }: Sending) =>
  !isOfTheService(rejection) && (await askService()) !== 'down';

function throwIfTooLong(rejection: MatterPushError, waited: number, sending: Sending): void {
  if (waited <= sending.maxWait) return;
  const cause = causeOf(rejection, sending);
  throw new CommandFailure(`given up after ${duration(waited)}: ${cause}`);
}

const pause = (tries: number, { retryAfter }: MatterPushError, stop: AbortSignal) =>
  sleep(backoff(tries, retryAfter), undefined, { signal: stop }).catch(() => undefined);

/** @throws CommandFailure where the service has never been reached: the address may be wrong */
function stand(
  line: PushLine,
  rejection: MatterPushError,
  sending: Sending,
  wasReached: boolean,
): void {
  const { standstill, teller, retries } = sending;
  const { tries, wait, since } = standstill.rejected(line.number, rejection.retryAfter);
  if (wait === undefined) return;
  const cause = causeOf(rejection, sending);
  if (!wasReached && tries > retries) throw new CommandFailure(cause);
  if (tries > 1 || wait > SHORT) teller.standing(cause, since, wait);
}
