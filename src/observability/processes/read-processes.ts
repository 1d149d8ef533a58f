/** The processes of a deployment, by their heartbeats. Changes nothing. */
import type { RedisKeys } from '../../queue/keys';
import type { RedisConnection } from '../../queue/redis';
import { HEARTBEAT_INTERVAL } from './heartbeat';
import { type ProcessRecord, processRecord } from './record';

export interface SeenProcess extends ProcessRecord {
  /** Milliseconds since its last heartbeat. */
  readonly silentMs: number;
  /** It has missed its heartbeats: it died, or is stopped, or cut off from Redis. */
  readonly isSilent: boolean;
}

/** Milliseconds without a heartbeat: three of the longest pauses between two. */
const SILENT = 4.5 * HEARTBEAT_INTERVAL;

/** @returns by type and name; one of another version whose record this one cannot read is left out */
export async function readProcesses(
  redis: RedisConnection,
  keys: RedisKeys,
): Promise<SeenProcess[]> {
  const [[seconds, microseconds], records] = await Promise.all([
    redis.time(),
    redis.hgetall(keys.processes),
  ]);
  const now = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  return Object.values(records)
    .flatMap((text) => parse(text, now) ?? [])
    .sort((a, b) => a.type.localeCompare(b.type) || a.name.localeCompare(b.name));
}

function parse(text: string, now: number): SeenProcess | undefined {
  const end = text.indexOf(' ');
  const silentMs = Math.max(0, now - Number(text.slice(0, end)));
  const parsed = processRecord.safeParse(jsonOf(text.slice(end + 1)));
  if (!parsed.success) return undefined;
  return { ...parsed.data, silentMs, isSilent: silentMs > SILENT };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not written by a process of ours.
    return undefined;
  }
}
