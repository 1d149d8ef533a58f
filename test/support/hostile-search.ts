/** Everything that a running service has written somewhere, as text to be searched. */
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { Connection } from 'mongoose';
import type { SharedService as Service } from './service';

/** The logs of all processes. */
export function logsOf({ webs, workers }: Service): string {
  return [...webs, ...workers].map(({ logFile }) => readFileSync(logFile, 'utf8')).join('\n');
}

/** Each key of the service in Redis, with its value. */
export async function redisDump(url: string, { REDIS_NAMESPACE }: Service['env']) {
  const redis = new Redis(url);
  try {
    const keys: string[] = [];
    const match = { match: `{${REDIS_NAMESPACE}}*` };
    for await (const found of redis.scanStream(match)) keys.push(...found);
    const values = keys.map(async (key) => [key, await readKey(redis, key)] as const);
    return new Map(await Promise.all(values));
  } finally {
    redis.disconnect();
  }
}

async function readKey(redis: Redis, key: string): Promise<string> {
  const reads: Record<string, () => Promise<unknown>> = {
    string: () => redis.get(key),
    list: () => redis.lrange(key, 0, -1),
    hash: () => redis.hgetall(key),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, '0', '-1', 'WITHSCORES'),
    stream: () => redis.xrange(key, '-', '+'),
    // Gone since it was listed.
    none: async () => '',
  };
  const type = await redis.type(key);
  const read = reads[type];
  if (!read) throw new Error(`${key} is a ${type}, which nobody searches`);
  return JSON.stringify(await read());
}

/** All documents of a collection; bytes as the text that they are. */
export async function documentsOf(db: Connection, collection: string): Promise<string> {
  const found = await db.collection(collection).find({}, { promoteBuffers: true }).toArray();
  return JSON.stringify(found, function (this: Record<string, unknown>, name, value) {
    // Buffers have turned themselves into lists of numbers by the time that they come here.
    const held = this[name];
    if (Buffer.isBuffer(held)) return held.toString();
    return typeof value === 'bigint' ? String(value) : value;
  });
}
