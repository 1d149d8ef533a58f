/** Calls that other servers must answer: each has a deadline, and a failure becomes a 503. */
import { withTimeout } from '../concurrency/timeout';
import { PushError } from '../protocol/errors';
import { isOutOfMemory } from '../queue/redis';

/** @throws PushError DATABASE_UNAVAILABLE where the call fails or is not over within `timeout` ms */
export function databaseCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  return available(call, timeout, (cause) => new PushError('DATABASE_UNAVAILABLE', { cause }));
}

/**
 * @throws PushError QUEUE_UNAVAILABLE where the call fails or is not over within `timeout` ms, or
 *   QUEUE_MEMORY_FULL where it was rejected because Redis is at `maxmemory`: nothing was done then
 */
export function queueCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  return available(call, timeout, (cause) => {
    const reason = isOutOfMemory(cause) ? 'QUEUE_MEMORY_FULL' : 'QUEUE_UNAVAILABLE';
    return new PushError(reason, { cause });
  });
}

/** A PushError of the call itself passes as it is: it says more. */
function available<T>(
  call: Promise<T>,
  timeout: number,
  errorOf: (cause?: unknown) => PushError,
): Promise<T> {
  const named = (cause: unknown) => (cause instanceof PushError ? cause : errorOf(cause));
  return withTimeout(call, timeout, errorOf, named);
}
