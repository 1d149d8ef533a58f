/**
 * What ioredis needs for each form of REDIS_URL. Every connection is one of two kinds: it fails fast,
 * or it never gives a command up.
 */
import { readFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import {
  AbstractConnector,
  type ClusterNode,
  type ClusterOptions,
  type RedisOptions,
} from 'ioredis';
import type { RedisAddress, RedisServer, RedisTls } from '../runtime/redis-url';

/** Milliseconds for a sentinel, or for a node that tells who holds what. */
const ASK_TIMEOUT = 1_000;
/** Milliseconds between two looks at who holds what in a Cluster, also where no command goes astray. */
const LOOK_AGAIN = 5_000;

/** Milliseconds that a connection may take to close. */
const DISCONNECT_TIMEOUT = 2_000;

/** Milliseconds before the next try. */
export const backoff = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000);

/** @returns options for one server, or for the primary of a Sentinel group */
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
    sentinelCommandTimeout: ASK_TIMEOUT,
    sentinelRetryStrategy: backoff,
    // ioredis' failoverDetector stays off: a failover that it hears of while it connects ends the
    // connection for good. An old primary is left by its rejections and its silence.
  };
}

/** @returns startup nodes, and options for all of a Cluster */
export function clusterOptions(
  address: RedisAddress,
  { isPatient, options }: { readonly isPatient: boolean; readonly options: RedisOptions },
): [ClusterNode[], ClusterOptions] {
  return [
    [...address.servers],
    {
      clusterRetryStrategy: backoff,
      slotsRefreshTimeout: ASK_TIMEOUT,
      slotsRefreshInterval: LOOK_AGAIN,
      // As they are: a certificate is made for names, and a name may have moved to another address.
      dnsLookup: (host, found) => found(null, host),
      enableOfflineQueue: isPatient,
      ...(isPatient ? PATIENT : AT_ONCE),
      redisOptions: { ...options, ...loginOptions(address) },
    },
  ];
}

/** A command is sent again until a primary has taken it. */
const PATIENT: ClusterOptions = {
  maxRedirections: Number.POSITIVE_INFINITY,
  retryDelayOnMoved: 50,
  retryDelayOnFailover: 100,
  retryDelayOnClusterDown: 100,
};
/** A command whose node has gone is rejected: it may have been done, and must not be done twice. */
const AT_ONCE: ClusterOptions = { retryDelayOnFailover: 0, retryDelayOnClusterDown: 0 };

/**
 * Connects to one server after the other, the next one each time: what is published arrives at every
 * node of a Cluster.
 *
 * @param others nodes that are known now besides those of the address
 */
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

/** @throws Error naming the option of REDIS_URL whose file cannot be read */
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
