/** Calls to MongoDB and Redis with a timeout. A failed or late call rejects with a PushError. */
import { withTimeout } from '../concurrency/timing';
import { isOutOfMemory } from '../infra/redis/commands';
import { PushError } from '../protocol/errors';

/** @throws PushError DATABASE_UNAVAILABLE if the call fails or takes longer than `timeout` milliseconds */
export function databaseCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  return available(call, timeout, (cause) => new PushError('DATABASE_UNAVAILABLE', { cause }));
}

/**
 * @throws PushError QUEUE_UNAVAILABLE if the call fails or takes longer than `timeout` milliseconds. QUEUE_MEMORY_FULL
 *   if Redis rejected the call without an effect, because the memory of Redis is full (`maxmemory`)
 */
export function queueCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  return available(call, timeout, (cause) => {
    const reason = isOutOfMemory(cause) ? 'QUEUE_MEMORY_FULL' : 'QUEUE_UNAVAILABLE';
    return new PushError(reason, { cause });
  });
}

/** Adds the timeout, and converts the error of the call. A PushError is kept, because its reason is more exact. */
function available<T>(
  call: Promise<T>,
  timeout: number,
  errorOf: (cause?: unknown) => PushError,
): Promise<T> {
  const named = (cause: unknown) => (cause instanceof PushError ? cause : errorOf(cause));
  return withTimeout(call, timeout, errorOf, named);
}
