import { Redis } from 'ioredis';
import { chosenProgram } from './project';
import { externalServer, type RunningServer, type ServerOptions, startServer } from './server';
import { untilReady } from './waiting';

const GIVEN_READY_MS = 15_000;

/** Starts a Redis or Valkey with an append-only file, so that a restart keeps the queue. */
export function startRedis(options: ServerOptions): Promise<RunningServer> {
  const program = options.program ?? chosenProgram('redis');
  return startServer(
    { name: 'redis', program, url: redisUrl, args, isReady: (port) => answersPong(redisUrl(port)) },
    options,
  );
}

/** Uses the Redis of REDIS_URL. It waits until the server answers. */
export async function externalRedis(url: string, signal?: AbortSignal): Promise<RunningServer> {
  const server = externalServer('Redis', url);
  const problem = await untilReady({
    probe: () => answersPong(url),
    exited: server.exited,
    deadlineMs: GIVEN_READY_MS,
    signal,
  });
  if (!problem) return server;
  throw new Error(`${server.describe} is not ready: ${problem}. Check REDIS_URL, or unset it.`);
}

function redisUrl(port: number): string {
  return `redis://127.0.0.1:${port}/0`;
}

function args(port: number, dir: string): string[] {
  return [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--daemonize', 'no'],
    ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
    ...['--maxmemory-policy', 'noeviction'],
  ];
}

// An open port is not enough, because a server that loads its data answers with an error.
async function answersPong(url: string): Promise<boolean> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 1_500,
    commandTimeout: 1_500,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => {}); // The rejection of connect() or ping() reports the error.
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } finally {
    client.disconnect();
  }
}
