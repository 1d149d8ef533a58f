/** A replica set whose members die and come back, each behind a proxy of its own. */
import { join } from 'node:path';
import { type ReplicaSet, type RunningServer, startReplicaSet } from '../local/servers';
import { allSettledOrThrow } from '../local/waiting';
import { type Ground, type Member, startMember } from './member';
import { ProcessWays } from './process-ways';
import type { Way } from './proxy';

export interface SetMember extends Member {
  /** Straight to this member, whatever it is at the moment. */
  readonly url: string;
}

interface SetOptions {
  readonly members: number;
  /** Every member rejects killSessions, from its start on. */
  readonly rejectsKillSessions: boolean;
  /** GB of each member; a quarter where it is not given. */
  readonly cacheSize?: number | undefined;
  /** Those that have a way of their own; all share one where it is not given. */
  readonly processes?: readonly string[];
}

/** What rejects it as Atlas does: AtlasError, not allowed in this tier. */
export const REFUSED_SESSIONS = { failCommands: ['killSessions'], errorCode: 8_000 };
const ALWAYS = JSON.stringify({ mode: 'alwaysOn', data: REFUSED_SESSIONS });
/** For failpoints; and nobody is to be waited for where a member ends for good. */
const PARAMETERS = { enableTestCommands: 1, shutdownTimeoutMillisForSignaledShutdown: 0 };

/** @throws Error with the end of a log where a member does not start; nothing is left running then */
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

/** One that runs already, started again by the set. */
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

/** Its `kill`, `restart` and `stop` are of all members at once. */
export class ClusterSet implements Member {
  readonly name = 'mongo';
  /** Of the whole set, straight to its members; a process that is told its ways goes through proxies. */
  readonly url: string;

  constructor(
    private readonly set: ReplicaSet,
    readonly members: readonly SetMember[],
    private readonly ways: ProcessWays,
  ) {
    this.url = set.url;
  }

  /** Between the processes and all members; those reach each other past it. */
  get proxy(): Way {
    return this.ways.all;
  }

  /** The way of one process to all members. */
  wayOf(process: string): Way {
    return this.ways.of(process);
  }

  /** By the port of a member, the port of the proxy of a process. */
  waysOf(process: string): Readonly<Record<string, number>> {
    return this.ways.portsOf(process);
  }

  /** @throws Error where no member becomes the primary within a minute */
  async primary(): Promise<SetMember> {
    const { url } = await this.set.primary();
    return this.members.find((member) => member.url === url) as SetMember;
  }

  /** One that is not the primary; @throws as above, and where there is no other one */
  async secondary(): Promise<SetMember> {
    const { url } = await this.primary();
    const found = this.members.find((member) => member.url !== url);
    if (!found) throw new Error('the replica set has no secondary');
    return found;
  }

  pid(): number | undefined {
    return this.members.find((member) => member.pid() !== undefined)?.pid();
  }

  kill(how: NodeJS.Signals): void {
    for (const member of this.members) member.kill(how);
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
