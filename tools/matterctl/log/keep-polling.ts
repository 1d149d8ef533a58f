/** Polls until it is stopped; a server that is away for a while is told once and waited for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { isSocketError } from '../../../src/storage/mongo';
import { backoff } from '../../client/backoff';
import { MatterPushError } from '../../client/error';
import type { Tool } from '../tool';

/** Milliseconds between polls. */
const INTERVAL = 1_000;

/** @throws what `poll` throws, but for failures of the database or the service that pass */
export async function keepPolling(
  poll: () => Promise<void>,
  stderr: Tool['stderr'],
  stop: AbortSignal,
): Promise<void> {
  let failures = 0;
  let away = 'database';
  while (!stop.aborted) {
    try {
      await poll();
      if (failures > 0) stderr.write(`The ${away} is back.\n`);
      failures = 0;
    } catch (error) {
      if (!isAway(error) || stop.aborted) throw error;
      away = error instanceof MatterPushError ? 'service' : 'database';
      if (failures === 0) stderr.write(`The ${away} is away: ${(error as Error).message}\n`);
      failures += 1;
    }
    const wait = failures === 0 ? INTERVAL : backoff(failures);
    // Rejects only when stopped, and then the loop ends.
    await sleep(wait, undefined, { signal: stop }).catch(() => undefined);
  }
}

const isAway = (error: unknown) =>
  error instanceof mongo.MongoError ||
  (error instanceof MatterPushError ? error.retryable : isSocketError(error));
