/** Calls to MongoDB and Redis with a timeout. A PushError of the call is thrown unchanged. */
import { withTimeout } from '../concurrency/timing';
import { isOutOfMemory } from '../infra/redis/commands';
import { PushError } from '../protocol/errors';

/** @throws PushError DATABASE_UNAVAILABLE if the call fails or takes longer than `timeout` milliseconds */
export function databaseCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  return available(call, timeout, (cause) => new PushError('DATABASE_UNAVAILABLE', { cause }));
}

/**
 * @throws PushError QUEUE_MEMORY_FULL if Redis is at `maxmemory`
 * @throws PushError QUEUE_UNAVAILABLE after a different error, or after `timeout` milliseconds
 */
export function queueCall<T>(call: Promise<T>, timeout: number): Promise<T> {
  return available(call, timeout, (cause) => {
    const reason = isOutOfMemory(cause) ? 'QUEUE_MEMORY_FULL' : 'QUEUE_UNAVAILABLE';
    return new PushError(reason, { cause });
  });
}

/** Replaces every error of `call` except a PushError. */
function available<T>(
  call: Promise<T>,
  timeout: number,
  errorOf: (cause?: unknown) => PushError,
): Promise<T> {
  const named = (cause: unknown) => (cause instanceof PushError ? cause : errorOf(cause));
  return withTimeout(call, timeout, errorOf, named);
}
