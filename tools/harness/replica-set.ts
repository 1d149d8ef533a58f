/** A replica set whose members can be killed and restarted, each behind a proxy. */
import { join } from 'node:path';
import { type ReplicaSet, type RunningServer, startReplicaSet } from '../local/servers';
import { allSettledOrThrow } from '../local/waiting';
import { type Ground, type Member, startMember } from './member';
import { ProcessWays } from './process-ways';
import type { Way } from './proxy';

export interface SetMember extends Member {
  /** Directly to this member, whether primary or secondary. */
  readonly url: string;
}

interface SetOptions {
  readonly members: number;
  /** Every member rejects killSessions from its start. */
  readonly rejectsKillSessions: boolean;
  /** Cache of each member in GB; 0.25 if absent. */
  readonly cacheSize?: number | undefined;
  /** Names of processes with their own proxies; all share the same proxies if absent. */
  readonly processes?: readonly string[];
}

/** Rejects killSessions like Atlas: AtlasError, not allowed in this tier. */
export const REFUSED_SESSIONS = { failCommands: ['killSessions'], errorCode: 8_000 };
const ALWAYS = JSON.stringify({ mode: 'alwaysOn', data: REFUSED_SESSIONS });
/** Enables failpoints, and members that end without waiting for each other. */
const PARAMETERS = { enableTestCommands: 1, shutdownTimeoutMillisForSignaledShutdown: 0 };

/** @throws Error with the end of a log if a member does not start. All members are stopped then */
export async function startSet(ground: Ground, options: SetOptions): Promise<ClusterSet> {
  const { folder, signal } = ground;
  const { rejectsKillSessions } = options;
  const set = await startReplicaSet({
    dir: join(folder, 'mongo'),
    members: options.members,
    cacheSize: options.cacheSize,
    parameters: {
      ...PARAMETERS,
      ...(rejectsKillSessions && { 'failpoint.failCommand': ALWAYS }),
    },
    logFile: (index) => logFileOf(ground, index),
    signal,
  });
  const members = await Promise.all(set.members.map((_, index) => asMember(ground, set, index)));
  const ports = set.members.map(({ port }) => port);
  return new ClusterSet(set, members, await ProcessWays.open(ports, options.processes));
}

const logFileOf = ({ folder }: Ground, index: number) => join(folder, 'logs', `mongo-${index}.log`);

/** Wraps a running member. The set restarts it. */
async function asMember(ground: Ground, set: ReplicaSet, index: number): Promise<SetMember> {
  let running = set.members[index];
  const url = String(running?.url);
  const launch = async (): Promise<RunningServer> => {
    const next = running ?? (await set.restart(index));
    running = undefined;
    return next;
  };
  const logFile = logFileOf(ground, index);
  const member = await startMember({ ...ground, name: `mongo-${index}`, logFile, launch });
  return Object.assign(member, { url });
}

/** `kill`, `restart` and `stop` apply to all members. */
export class ClusterSet implements Member {
  readonly name = 'mongo';
  /** Directly to all members. Processes divert their connections to their proxies. */
  readonly url: string;

  constructor(
    private readonly set: ReplicaSet,
    readonly members: readonly SetMember[],
    private readonly ways: ProcessWays,
  ) {
    this.url = set.url;
  }

  /** The connections of all processes. Members connect to each other directly. */
  get proxy(): Way {
    return this.ways.all;
  }

  /** The connections of one process to all members. */
  wayOf(process: string): Way {
    return this.ways.of(process);
  }

  /** The port of the proxy of a process, by the port of the member. */
  waysOf(process: string): Readonly<Record<string, number>> {
    return this.ways.portsOf(process);
  }

  /** @throws Error if no member becomes the primary within two minutes */
  async primary(): Promise<SetMember> {
    const { url } = await this.set.primary();
    return this.members.find((member) => member.url === url) as SetMember;
  }

  /** @throws as `primary`, and if the set has no secondary */
  async secondary(): Promise<SetMember> {
    const { url } = await this.primary();
    const found = this.members.find((member) => member.url !== url);
    if (!found) throw new Error('the replica set has no secondary');
    return found;
  }

  pid(): number | undefined {
    return this.members.find((member) => member.pid() !== undefined)?.pid();
  }

  kill(signal: NodeJS.Signals): void {
    for (const member of this.members) member.kill(signal);
  }

  async restart(): Promise<void> {
    await allSettledOrThrow(this.members.map((member) => member.restart()));
    await this.set.primary();
  }

  async stop(): Promise<void> {
    this.ways.close();
    await allSettledOrThrow(this.members.map((member) => member.stop()));
  }
}
