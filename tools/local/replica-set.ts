/** Starts several MongoDB servers as one replica set, for tests of a failover. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import {
  DATABASE,
  isWritable,
  type MongodSettings,
  mongodArgs,
  mongoUrl,
  REPLICA_SET,
  withAdmin,
} from './mongod';
import { freePort } from './ports';
import { chosenProgram } from './project';
import { type RunningServer, type ServerOptions, startServer } from './server';
import { allSettledOrThrow, Stopped } from './waiting';

export interface ReplicaSetOptions
  extends Pick<ServerOptions, 'program' | 'signal'>,
    Pick<MongodSettings, 'parameters'> {
  /** Cache of each member in gigabytes; by default a quarter. */
  readonly cacheSize?: number | undefined;
  /** Folder for the folders `1`, `2`, … of the members, with their data and, without `logFile`, their logs. */
  readonly dir: string;
  /** Number of members: odd. */
  readonly members: number;
  /** @param index from 0 */
  logFile?(index: number): string;
  /** Milliseconds without a heartbeat of the primary after which the other members elect another one. */
  readonly electionTimeoutMs?: number;
  /**
   * Returns the address, `host:port`, under which clients and other members reach the member on this port, for example
   * of a proxy before it. By default, it is the address of the member itself.
   */
  address?(port: number, index: number): Promise<string>;
}

export interface ReplicaSet {
  /** URL with all members, with which a client finds the current primary. */
  readonly url: string;
  /** The current or last process of each member. Its `url` leads to this member only, without a proxy. */
  readonly members: readonly RunningServer[];
  /**
   * Returns the primary. It waits while there is none.
   *
   * @throws Error if no primary is elected in time
   */
  primary(): Promise<RunningServer>;
  /** Starts a member again that has ended, with its data and port. It waits until the member follows the primary. */
  restart(index: number): Promise<RunningServer>;
  /** Ends all members, even if SIGSTOP has stopped one. */
  stop(): Promise<void>;
}

const ELECTION_TIMEOUT_MS = 2_000;
const HEARTBEAT_MS = 500;
const INITIATE_MS = 60_000;
const PRIMARY_WITHIN_MS = 120_000;
const POLL_MS = 50;
/** Default cache of a member: small, because tests run several members on one machine. */
const CACHE_GB = 0.25;

/**
 * Starts the members and configures them as one replica set. Only `restart` continues the data of a member.
 *
 * @throws Error with the end of a log if a member does not start; all members are then stopped
 */
export async function startReplicaSet(options: ReplicaSetOptions): Promise<ReplicaSet> {
  const { address = async (port: number) => `127.0.0.1:${port}`, signal } = options;
  const ports = await Promise.all(Array.from({ length: options.members }, () => freePort()));
  const hosts = await Promise.all(ports.map(address));
  const members: RunningServer[] = [];
  const stop = async () => void (await Promise.all(members.map(endMember)));
  const primary = () => findPrimary(members, signal);
  try {
    await allSettledOrThrow(
      ports.map(async (port, index) => {
        members[index] = await startMember(options, index, port);
      }),
    );
    await initiate(members, hosts, options.electionTimeoutMs ?? ELECTION_TIMEOUT_MS);
    await primary();
    await allSettledOrThrow(members.map((member) => untilFollows(member, signal)));
  } catch (error) {
    await stop();
    throw error;
  }
  const restart = async (index: number) => {
    const member = await startMember(options, index, ports[index]);
    members[index] = member;
    await untilFollows(member, signal);
    return member;
  };
  const url = `mongodb://${hosts.join(',')}/${DATABASE}?replicaSet=${REPLICA_SET}`;
  return { url, members, primary, restart, stop };
}

/** Starts one member. It is ready when it answers, because it has no configuration or no primary yet. */
function startMember(
  { dir, logFile, program, parameters, cacheSize = CACHE_GB, signal }: ReplicaSetOptions,
  index: number,
  port?: number,
): Promise<RunningServer> {
  return startServer(
    {
      name: `mongodb-${index + 1}`,
      program: program ?? chosenProgram('mongo'),
      url: mongoUrl,
      args: (own, folder) => mongodArgs(own, folder, { cacheSize, parameters }),
      isReady: (own) =>
        withAdmin(mongoUrl(own), async (db) => Boolean(await db.command({ ping: 1 }))),
    },
    { dir: join(dir, String(index + 1)), port, signal, logFile: logFile?.(index) },
  );
}

async function initiate(
  members: readonly RunningServer[],
  hosts: readonly string[],
  electionTimeoutMillis: number,
): Promise<void> {
  const config = {
    _id: REPLICA_SET,
    members: hosts.map((host, _id) => ({ _id, host })),
    settings: { electionTimeoutMillis, heartbeatIntervalMillis: HEARTBEAT_MS },
  };
  const [first] = members;
  if (!first) return;
  // Not repeated: a second attempt would fail if the first one succeeded without an answer in time.
  const timeouts = { connectMs: INITIATE_MS, commandMs: INITIATE_MS };
  await withAdmin(first.url, (db) => db.command({ replSetInitiate: config }), timeouts);
}

async function findPrimary(
  members: readonly RunningServer[],
  signal?: AbortSignal,
): Promise<RunningServer> {
  const ifPrimary = async (member: RunningServer) => {
    if (await withAdmin(member.url, isWritable)) return member;
    throw new Error('It follows another one.');
  };
  // The first member that answers as the primary, because a member that SIGSTOP has stopped never answers.
  const look = () => Promise.any(members.map(ifPrimary)).catch(() => undefined);
  return until('no primary was elected', signal, look);
}

function untilFollows(member: RunningServer, signal?: AbortSignal): Promise<boolean> {
  const look = async () => (await withAdmin(member.url, isCurrent).catch(() => false)) || undefined;
  return until(`${member.url} does not follow its primary`, signal, look);
}

async function isCurrent(db: mongo.Db): Promise<boolean> {
  const { isWritablePrimary, secondary } = await db.command({ hello: 1 });
  return isWritablePrimary === true || secondary === true;
}

async function until<T>(
  what: string,
  signal: AbortSignal | undefined,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const end = Date.now() + PRIMARY_WITHIN_MS;
  while (Date.now() < end) {
    if (signal?.aborted) throw new Stopped();
    const found = await look();
    if (found !== undefined) return found;
    await sleep(POLL_MS);
  }
  throw new Error(`The replica set is not ready: ${what} within ${PRIMARY_WITHIN_MS / 1000} s.`);
}

async function endMember(member: RunningServer): Promise<void> {
  member.kill('SIGCONT');
  await member.stop();
}
