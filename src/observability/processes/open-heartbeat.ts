/** What every process tells of itself besides what is its own. */
import { hostname } from 'node:os';
import { VERSION } from '../../protocol/version';
import type { RedisKeys } from '../../queue/keys';
import type { RedisConnection } from '../../queue/redis';
import type { Lifecycle } from '../../runtime/lifecycle';
import type { Logger } from '../../runtime/logger';
import { type Outage, outagesOf, SERVERS } from '../../runtime/outages';
import { startHeartbeat } from './heartbeat';
import type { ProcessRecord } from './record';

/** What only this type of process knows. */
export type OwnRecord = Pick<ProcessRecord, 'work' | 'defaultRate' | 'flow'>;

export interface HeartbeatParts {
  /** The name of the process. */
  readonly name: string;
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

/**
 * @returns to be called once the process does its work. Its releaser is registered by this function: what
 *   is registered later ends earlier, so that the heartbeat tells of the drain.
 */
export function openHeartbeat(
  type: 'web' | 'worker',
  { name, redis, keys, logger, lifecycle }: HeartbeatParts,
): (read: () => OwnRecord) => void {
  const outages = outagesOf(logger);
  const about = {
    ...{ type, name, host: hostname(), pid: process.pid },
    version: VERSION,
  };
  let stop: () => Promise<void> = async () => undefined;
  lifecycle.onStop('heartbeat', () => stop());
  return (read) => {
    const record = (): ProcessRecord => ({
      ...about,
      uptimeMs: Math.round(process.uptime() * 1_000),
      state: lifecycle.isStopping() ? 'draining' : 'ready',
      outages: Object.fromEntries(
        SERVERS.flatMap((server): [string, Outage][] => {
          const last = outages.last(server);
          return last ? [[server, last]] : [];
        }),
      ),
      ...read(),
    });
    stop = startHeartbeat(redis, keys, record, logger).stop;
  };
}
