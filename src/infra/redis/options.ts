/** The options of ioredis for each form of REDIS_URL. */
import { readFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import {
  AbstractConnector,
  type ClusterNode,
  type ClusterOptions,
  type RedisOptions,
} from 'ioredis';
import type { RedisAddress, RedisServer, RedisTls } from './url';

/** Maximum milliseconds for a lookup of the primary (sentinel) or of the slots (Cluster). */
const LOOKUP_TIMEOUT = 1_000;
/** Milliseconds between two reads of the slots of a Cluster. */
const SLOTS_REFRESH_INTERVAL = 5_000;

/** Maximum milliseconds to close a connection. */
const DISCONNECT_TIMEOUT = 2_000;

/** Milliseconds before the next attempt to connect. */
export const reconnectDelay = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000);

export function serverOptions(address: RedisAddress): RedisOptions {
  const { form, servers, db, groupName, sentinel } = address;
  if (form !== 'sentinel') return { ...servers[0], db, ...loginOptions(address) };
  const { tls, ...login } = loginOptions(address);
  return {
    sentinels: [...servers],
    name: groupName ?? '',
    db,
    ...login,
    ...(sentinel?.username !== undefined && { sentinelUsername: sentinel.username }),
    ...(sentinel?.password !== undefined && { sentinelPassword: sentinel.password }),
    ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: LOOKUP_TIMEOUT,
    sentinelRetryStrategy: reconnectDelay,
    // Do not set `failoverDetector`: this option can make ioredis stop reconnecting.
  };
}

export function clusterOptions(
  address: RedisAddress,
  {
    retriesCommands,
    options,
  }: { readonly retriesCommands: boolean; readonly options: RedisOptions },
): [ClusterNode[], ClusterOptions] {
  return [
    [...address.servers],
    {
      clusterRetryStrategy: reconnectDelay,
      slotsRefreshTimeout: LOOKUP_TIMEOUT,
      slotsRefreshInterval: SLOTS_REFRESH_INTERVAL,
      // ioredis must not resolve host names, because TLS certificates contain the names.
      dnsLookup: (host, found) => found(null, host),
      enableOfflineQueue: retriesCommands,
      ...(retriesCommands ? RETRYING : FAILING_FAST),
      redisOptions: { ...options, ...loginOptions(address) },
    },
  ];
}

const RETRYING: ClusterOptions = {
  maxRedirections: Number.POSITIVE_INFINITY,
  retryDelayOnMoved: 50,
  retryDelayOnFailover: 100,
  retryDelayOnClusterDown: 100,
};
/** 0 disables retries: a retry by ioredis could execute a command twice. */
const FAILING_FAST: ClusterOptions = { retryDelayOnFailover: 0, retryDelayOnClusterDown: 0 };

/** Options for a subscriber in a Cluster. Every node of a Cluster delivers all published messages. */
export function anyServerOf(
  address: RedisAddress,
  others: () => readonly RedisServer[],
): RedisOptions {
  const login = loginOptions(address);
  let next = Math.floor(Math.random() * address.servers.length);
  class AnyServer extends AbstractConnector {
    constructor() {
      super(DISCONNECT_TIMEOUT);
    }

    override async connect() {
      this.connecting = true;
      const servers = distinct([...address.servers, ...others()]);
      const server = servers[next++ % servers.length] as RedisServer;
      this.stream = login.tls ? connectTls({ ...server, ...login.tls }) : connectPlain(server);
      this.stream.once('error', (error: Error) => {
        this.firstError = error;
      });
      return this.stream;
    }
  }
  return { ...login, Connector: AnyServer };
}

const distinct = (servers: readonly RedisServer[]): RedisServer[] => [
  ...new Map(servers.map((server) => [`${server.host}:${server.port}`, server])).values(),
];

interface LoginOptions {
  username?: string;
  password?: string;
  tls?: ConnectionOptions;
}

function loginOptions({ username, password, tls }: RedisAddress): LoginOptions {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: readTlsFiles(tls) }),
  };
}

/** @throws Error if a file cannot be read */
function readTlsFiles({ caFile, certFile, keyFile }: RedisTls): ConnectionOptions {
  return {
    ...(caFile && { ca: readPem('tlsCAFile', caFile) }),
    ...(certFile && { cert: readPem('tlsCertFile', certFile) }),
    ...(keyFile && { key: readPem('tlsKeyFile', keyFile) }),
  };
}

function readPem(option: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`REDIS_URL cannot be used: ${option}: ${(error as Error).message}`);
  }
}
