/** Starts a Redis server, a sentinel or a node of a Cluster with a config file. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../local/ports';
import { chosenProgram } from '../local/project';
import { startServer } from '../local/server';
import { allSettledOrThrow } from '../local/waiting';
import type { CertificateFiles } from './certificate';
import { type Ground, type Member, startMember } from './member';
import { startTlsFront, type TlsFront } from './tls-front';

/** Users and TLS. The servers and the harness always log in as `ADMIN`. */
export interface RedisAccess {
  /** Rules of the only other user, `app` with the password `app-password`; absent: no login is necessary. */
  readonly rules?: string;
  /** Clients use TLS. */
  readonly tls?: CertificateFiles;
}

export const APP = { username: 'app', password: 'app-password' };
const ADMIN = { username: 'admin', password: 'admin-password' };

export interface RedisNode extends Member {
  /** Where the server listens. */
  readonly port: number;
  /** The port that clients use: a different one with TLS. */
  readonly announced: number;
  /** Runs a command as ADMIN, without TLS. @throws the server's error */
  send(command: string, ...args: readonly (string | number)[]): Promise<unknown>;
}

interface NodeOptions {
  readonly name: string;
  readonly access: RedisAccess;
  /** Lines of its config file. */
  config(ports: { readonly port: number; readonly announced: number }): readonly string[];
  /** Arguments after the path of the config file. */
  readonly args?: readonly string[];
}

/** @throws Error with the end of its log if it does not start */
export async function startRedisNode(ground: Ground, options: NodeOptions): Promise<RedisNode> {
  const { name, access, args = [] } = options;
  const port = await freePort();
  const announced = access.tls ? await freePort() : port;
  const dir = join(ground.folder, name);
  const file = join(dir, 'server.conf');
  mkdirSync(dir, { recursive: true });
  // Written once, because the server changes it.
  const lines = [...common(port, dir), ...users(access), ...options.config({ port, announced })];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const send = (command: string, ...rest: readonly (string | number)[]) =>
    sendCommand(port, access, command, rest);
  const kind = {
    name,
    program: chosenProgram('redis'),
    url: () => `redis://127.0.0.1:${port}`,
    args: () => [file, ...args],
    isReady: async () => (await send('PING')) === 'PONG',
  };
  const logFile = join(ground.folder, 'logs', `${name}.log`);
  const launch = () => startServer(kind, { dir, port, logFile, signal: ground.signal });
  const member = await startMember({ ...ground, name, logFile, launch });
  const front = access.tls && (await startTlsFront(announced, port, access.tls));
  return Object.assign(withFront(member, front), { port, announced, send });
}

function withFront(member: Member, front: TlsFront | undefined): Member {
  const stop = member.stop.bind(member);
  return Object.assign(member, {
    stop: async () => {
      front?.close();
      await stop();
    },
  });
}

const common = (port: number, dir: string) => [
  `port ${port}`,
  'bind 127.0.0.1',
  `dir ${JSON.stringify(dir)}`,
  'daemonize no',
];

const users = ({ rules }: RedisAccess): string[] =>
  rules === undefined
    ? []
    : [
        'user default off',
        `user ${ADMIN.username} on >${ADMIN.password} ~* &* +@all`,
        `user ${APP.username} on >${APP.password} ${rules}`,
      ];

/** Configuration of replication and persistence. */
export const replicationConfig = ({ rules }: RedisAccess, announced: number): string[] => [
  ...['appendonly yes', 'appendfsync everysec', 'save ""', 'maxmemory-policy noeviction'],
  ...['repl-diskless-sync yes', 'repl-diskless-sync-delay 0'],
  ...['replica-announce-ip 127.0.0.1', `replica-announce-port ${announced}`],
  ...(rules === undefined ? [] : [`masteruser ${ADMIN.username}`, `masterauth ${ADMIN.password}`]),
];

/** Configuration with which a sentinel logs in to the servers of a group and to the other sentinels. */
export const sentinelLogin = ({ rules }: RedisAccess, group: string): string[] =>
  rules === undefined
    ? []
    : [
        `sentinel auth-user ${group} ${ADMIN.username}`,
        `sentinel auth-pass ${group} ${ADMIN.password}`,
        `sentinel sentinel-user ${ADMIN.username}`,
        `sentinel sentinel-pass ${ADMIN.password}`,
      ];

/** The parts of REDIS_URL before and after the servers. */
export function urlParts({ rules, tls }: RedisAccess, servers: readonly RedisNode[]) {
  return {
    scheme: tls ? 'rediss' : 'redis',
    login: rules === undefined ? '' : `${APP.username}:${APP.password}@`,
    hosts: servers.map(({ announced }) => `127.0.0.1:${announced}`).join(','),
    options: tls ? `tlsCAFile=${encodeURIComponent(tls.certFile)}` : '',
  };
}

export const stopAll = async (nodes: readonly RedisNode[]): Promise<void> =>
  void (await allSettledOrThrow(nodes.map((node) => node.stop())));

/** Milliseconds for a command of the harness: the machine may stand still for some seconds. */
const TIMEOUT = 30_000;

async function sendCommand(
  port: number,
  { rules }: RedisAccess,
  command: string,
  args: readonly (string | number)[],
): Promise<unknown> {
  const redis = new Redis({
    ...(rules === undefined ? {} : ADMIN),
    host: '127.0.0.1',
    port,
    connectTimeout: TIMEOUT,
    commandTimeout: TIMEOUT,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // The failed command reports the error.
  redis.on('error', () => undefined);
  try {
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}
