/** Polls until it is stopped; a database that is away for a while is told once and waited for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mongo } from 'mongoose';
import { backoff } from '../../client/backoff';
import { isSocketError } from '../../mongo';
import type { Tool } from '../tool';

/** Milliseconds between polls. */
const INTERVAL = 1_000;

/** @throws what `poll` throws, but for failures of the database */
export async function keepPolling(
  poll: () => Promise<void>,
  stderr: Tool['stderr'],
  stop: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!stop.aborted) {
    try {
      await poll();
      if (failures > 0) stderr.write('The database is back.\n');
      failures = 0;
    } catch (error) {
      if (!isAway(error) || stop.aborted) throw error;
      if (failures === 0) stderr.write(`The database is away: ${(error as Error).message}\n`);
      failures += 1;
    }
    const wait = failures === 0 ? INTERVAL : backoff(failures);
    // Rejects only when stopped, and then the loop ends.
    await sleep(wait, undefined, { signal: stop }).catch(() => undefined);
  }
}

const isAway = (error: unknown) => error instanceof mongo.MongoError || isSocketError(error);
