/** A replica set whose members die and come back, each behind a proxy of its own. */
import { join } from 'node:path';
import { type RunningServer, startReplicaSet } from '../local/servers';
import { allSettledOrThrow } from '../local/waiting';
import type { Ground } from './launch';
import { type Member, startMember } from './member';
import { allWays, startProxy, type Way } from './proxy';

export interface SetMember extends Member {
  /** Straight to this member, whatever it is at the moment. */
  readonly url: string;
}

/** Its `kill`, `restart` and `stop` are of all members at once. */
export interface ClusterSet extends Member {
  readonly members: readonly SetMember[];
  /** Of the whole set, straight to its members; a process with `ways` goes through the proxies. */
  readonly url: string;
  /** By the port of a member, the port of its proxy. */
  readonly ways: Readonly<Record<string, number>>;
  /** Between the processes and all members; those reach each other past it. */
  readonly proxy: Way;
  /** @throws Error where no member becomes the primary within a minute */
  primary(): Promise<SetMember>;
  /** One that is not the primary; @throws as above, and where there is no other one */
  secondary(): Promise<SetMember>;
}

interface SetOptions {
  readonly members: number;
  /** Every member rejects killSessions, from its start on. */
  readonly rejectsKillSessions: boolean;
}

/** What rejects it as Atlas does: AtlasError, not allowed in this tier. */
export const REFUSED_SESSIONS = { failCommands: ['killSessions'], errorCode: 8_000 };
const ALWAYS = JSON.stringify({ mode: 'alwaysOn', data: REFUSED_SESSIONS });
/** For failpoints; and nobody is to be waited for where a member ends for good. */
const PARAMETERS = { enableTestCommands: 1, shutdownTimeoutMillisForSignaledShutdown: 0 };

/** @throws Error with the end of a log where a member does not start; nothing is left running then */
export async function startSet(ground: Ground, options: SetOptions): Promise<ClusterSet> {
  const { folder, signal } = ground;
  const logFile = (index: number) => join(folder, 'logs', `mongo-${index}.log`);
  const { rejectsKillSessions } = options;
  const set = await startReplicaSet({
    dir: join(folder, 'mongo'),
    members: options.members,
    parameters: {
      ...PARAMETERS,
      ...(rejectsKillSessions && { 'failpoint.failCommand': ALWAYS }),
    },
    logFile,
    signal,
  });
  const members = await Promise.all(
    set.members.map(async (server, index): Promise<SetMember> => {
      let running: RunningServer | undefined = server;
      const launch = async () => {
        const next = running ?? (await set.restart(index));
        running = undefined;
        return next;
      };
      const name = `mongo-${index}`;
      const member = await startMember({ ...ground, name, logFile: logFile(index), launch });
      return { ...member, url: server.url };
    }),
  );
  const ports = set.members.map(({ port }) => port);
  const proxies = await Promise.all(ports.map((port) => startProxy(port, '127.0.0.1')));
  const primary = async () => {
    const { url } = await set.primary();
    return members.find((member) => member.url === url) as SetMember;
  };
  const all = async (act: (member: SetMember) => Promise<void>) =>
    void (await allSettledOrThrow(members.map(act)));
  return {
    name: 'mongo',
    members,
    url: set.url,
    ways: Object.fromEntries(ports.map((port, index) => [port, proxies[index]?.port ?? port])),
    proxy: allWays(proxies),
    primary,
    secondary: async () => {
      const { url } = await primary();
      const found = members.find((member) => member.url !== url);
      if (!found) throw new Error('the replica set has no secondary');
      return found;
    },
    pid: () => members.find((member) => member.pid() !== undefined)?.pid(),
    kill: (how) => {
      for (const member of members) member.kill(how);
    },
    restart: async () => {
      await all((member) => member.restart());
      await set.primary();
    },
    stop: async () => {
      for (const proxy of proxies) proxy.close();
      await all((member) => member.stop());
    },
  };
}
