import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { mongo } from 'mongoose';
import { startMongo, startRedis } from '../../../tools/local/servers';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'embedded-servers-'));
});

afterEach(() => {
  // A server that was just killed may still create a file.
  rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
});

test('an acknowledged write outlives a SIGKILL of MongoDB, on the same port', async () => {
  const first = await startMongo({ dir });
  const client = new mongo.MongoClient(first.url);
  const things = client.db().collection<{ n: number }>('things');
  await things.insertOne({ n: 1 }, { writeConcern: { w: 'majority', j: true } });
  first.kill('SIGKILL');
  expect(await first.exited).toBe('exit code 137');

  const second = await startMongo({ dir, port: first.port });
  expect(second.url).toBe(first.url);
  expect(await things.countDocuments()).toBe(1);
  await client.close();
  await second.stop();
});

test('MongoDB takes a transaction as soon as it is ready', async () => {
  const server = await startMongo({ dir });
  const client = new mongo.MongoClient(server.url);
  await client.withSession((session) =>
    session.withTransaction(() => client.db().collection('things').insertOne({}, { session })),
  );
  await client.close();
  await server.stop();
});

test('Redis keeps its data over a clean stop, and never evicts', async () => {
  const first = await startRedis({ dir });
  const client = new Redis(first.url);
  await client.set('key', 'value');
  expect(await client.config('GET', 'maxmemory-policy')).toContain('noeviction');
  client.disconnect();
  await first.stop();

  const second = await startRedis({ dir, port: first.port });
  const again = new Redis(second.url);
  expect(await again.get('key')).toBe('value');
  again.disconnect();
  await second.stop();
});

test('a server that cannot start is told with the end of its log', async () => {
  const program = { kind: 'path', command: '/bin/ls', describe: 'no server' } as const;
  await expect(startRedis({ dir, program })).rejects.toThrow(
    /^redis did not start: it ended with exit code \d+\. The end of .*redis\.log:\n.*option/,
  );
});

test('a port that is taken is not mistaken for a server that is ready', async () => {
  const first = await startRedis({ dir });
  const other = join(dir, 'other');
  await expect(startRedis({ dir: other, port: first.port })).rejects.toThrow('is in use');
  await first.stop();
});

test('a start that is called off leaves nothing running', async () => {
  const stop = new AbortController();
  const starting = startMongo({ dir, signal: stop.signal });
  stop.abort();
  await expect(starting).rejects.toThrow('stopped');
});

test('libraries that the system lacks are those of the server alone, not of the shell over it', async () => {
  // Stands in for a program that misses a library: shows what it and the process over it got.
  const command = join(dir, 'program');
  const show = 'echo "own=$LD_LIBRARY_PATH"; tr "\\0" "\\n" </proc/$PPID/environ';
  writeFileSync(command, `#!/bin/sh\n${show} | sed 's/^LD_LIBRARY_PATH/shell/'\nexit 3\n`, {
    mode: 0o755,
  });
  const libraries = ['/embedded/a.libs', '/embedded/b.libs'];
  const program = { kind: 'embedded', command, libraries, describe: 'no server' } as const;
  await expect(startRedis({ dir, program })).rejects.toThrow('exit code 3');
  const log = readFileSync(join(dir, 'redis.log'), 'utf8');
  expect(log).toContain('own=/embedded/a.libs:/embedded/b.libs\n');
  expect(log).not.toContain('shell=');
});
