/** Calls to MongoDB and Redis with a timeout. A failure becomes a PushError with code 503. */
import { withTimeout } from '../concurrency/timing';
import { isOutOfMemory } from '../infra/redis/commands';
import { PushError } from '../protocol/errors';

/** @throws PushError DATABASE_UNAVAILABLE if the call fails or takes longer than `timeout` milliseconds */
export function databaseCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  return available(call, timeout, (cause) => new PushError('DATABASE_UNAVAILABLE', { cause }));
}

/**
 * @throws PushError QUEUE_UNAVAILABLE if the call fails or takes longer than `timeout` milliseconds. QUEUE_MEMORY_FULL
 *   if Redis rejected the call at its `maxmemory`; then the call had no effect
 */
export function queueCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  return available(call, timeout, (cause) => {
    const reason = isOutOfMemory(cause) ? 'QUEUE_MEMORY_FULL' : 'QUEUE_UNAVAILABLE';
    return new PushError(reason, { cause });
  });
}

/** Adds the timeout, and converts the error. A PushError of the call itself is kept, because it is more specific. */
function available<T>(
  call: Promise<T>,
  timeout: number,
  errorOf: (cause?: unknown) => PushError,
): Promise<T> {
  const named = (cause: unknown) => (cause instanceof PushError ? cause : errorOf(cause));
  return withTimeout(call, timeout, errorOf, named);
}
