/** Several MongoDB servers of our own as one replica set, for what only a failover shows. */
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
  /** GB of each member; a quarter where it is not given. */
  readonly cacheSize?: number | undefined;
  /** For the folders of the members, `1` and so on: data, and logs unless `logFile` says otherwise. */
  readonly dir: string;
  /** How many; an odd number. */
  readonly members: number;
  /** @param index from 0 */
  logFile?(index: number): string;
  /** Milliseconds without a word from the primary until the others elect another one. */
  readonly electionTimeoutMs?: number;
  /**
   * The address, `host:port`, by which clients and the other members know a member that listens on
   * this port: that of a proxy before it, or its own where absent.
   */
  address?(port: number, index: number): Promise<string>;
}

export interface ReplicaSet {
  /** Names every member; a client finds the primary by it, also the next one. */
  readonly url: string;
  /** The processes that run now, or ran last; each one's `url` leads to it alone, past any proxy. */
  readonly members: readonly RunningServer[];
  /**
   * The member that takes writes now, waited for while there is none.
   * @throws Error where there is none in time
   */
  primary(): Promise<RunningServer>;
  /** Starts a member that ended, by its place, once more on its data and port; waits until it follows. */
  restart(index: number): Promise<RunningServer>;
  /** Ends all members, also one that was stopped by SIGSTOP. */
  stop(): Promise<void>;
}

const ELECTION_TIMEOUT_MS = 2_000;
const HEARTBEAT_MS = 500;
const PRIMARY_WITHIN_MS = 60_000;
const POLL_MS = 50;
/** Members are for tests, several on one machine. */
const CACHE_GB = 0.25;

/**
 * Starts the members and joins them to one set; continuing its data is only possible by `restart`.
 * @throws with the end of a log where one does not start; nothing is left running then
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

/** Different ones: a port that was free may be given out twice. */
/** Ready means here that it answers: it has no set yet, or must find its primary first. */
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
  if (first) await withAdmin(first.url, (db) => db.command({ replSetInitiate: config }));
}

async function findPrimary(
  members: readonly RunningServer[],
  signal?: AbortSignal,
): Promise<RunningServer> {
  const ifPrimary = async (member: RunningServer) => {
    if (await withAdmin(member.url, isWritable)) return member;
    throw new Error('It follows another one.');
  };
  // The first that says so: one that stands still keeps whoever asks it waiting.
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
