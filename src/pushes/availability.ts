/** Calls that other servers must answer: each has a deadline, and a failure becomes a 503. */
import { withTimeout } from '../concurrency/timeout';
import { PushError } from '../protocol/errors';
import { isOutOfMemory } from '../queue/redis';

/** @throws PushError DATABASE_UNAVAILABLE where the call fails or is not over within `timeout` ms */
export function databaseCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  return available(call, timeout, 'DATABASE_UNAVAILABLE');
}

/**
 * @throws PushError QUEUE_UNAVAILABLE where the call fails or is not over within `timeout` ms, or
 *   QUEUE_MEMORY_FULL where it was rejected because Redis is at `maxmemory`: nothing was done then
 */
export function queueCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  const named = call.catch((cause) => {
    throw isOutOfMemory(cause) ? new PushError('QUEUE_MEMORY_FULL', { cause }) : cause;
  });
  return available(named, timeout, 'QUEUE_UNAVAILABLE');
}

/** A PushError of the call itself passes as it is: it says more. */
function available<T>(
  call: Promise<T>,
  timeout: number,
  reason: 'DATABASE_UNAVAILABLE' | 'QUEUE_UNAVAILABLE',
): Promise<T> {
  return withTimeout(call, timeout, () => new PushError(reason)).catch((cause) => {
    throw cause instanceof PushError ? cause : new PushError(reason, { cause });
  });
}
