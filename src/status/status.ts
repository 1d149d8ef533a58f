/** Reads the state of the service from MongoDB and Redis. */

import { withTimeout } from '../concurrency/timing';
import type { ServerName } from '../infra/outages';
import type { SeenProcess } from '../queue/heartbeat';
import type { PartitionView } from '../queue/inspect/view';
import type { ClientWithoutKeys, MongoStatus, MongoStatusReader, Resendable } from './mongo-status';
import { type ClientPushes, NO_PUSHES, type ResultStatus } from './recent-pushes';
import type { RedisStatus, RedisStatusReader } from './redis-status';

/** Maximum milliseconds to read the status from one server. */
const TIMEOUT = 5_000;
/** Maximum milliseconds between the start times that processes report for one outage. */
const SAME_OUTAGE = 5_000;

type ReadResult<T> = { readonly facts: T } | { readonly error: string };

/** Never fails: if a server is unavailable, `servers` contains the error. */
export async function readStatus(
  mongo: Pick<MongoStatusReader, 'look'>,
  redis: Pick<RedisStatusReader, 'look'>,
): Promise<ServiceStatus> {
  const [database, queue] = await Promise.all([
    readOrError(() => mongo.look()),
    readOrError(() => redis.look()),
  ]);
  const processes = 'facts' in queue ? queue.facts.processes : null;
  const recent = 'facts' in database ? database.facts.recent : null;
  const servers = [
    serverStatus('mongodb', database, processes),
    serverStatus('redis', queue, processes),
  ];
  return {
    at: new Date().toISOString(),
    servers,
    processes:
      processes?.map(({ outages: _outages, defaultRate: _rate, ...shown }) => shown) ?? null,
    partitions: 'facts' in queue ? queue.facts.partitions : null,
    flow: recent && { spanMs: recent.spanMs, results: recent.results },
    clients: 'facts' in database ? clientsOf(database.facts, { processes, servers }) : null,
    resendable: 'facts' in database ? database.facts.resendable : null,
  };
}

const readOrError = <T>(look: () => Promise<T>): Promise<ReadResult<T>> =>
  withTimeout(look(), TIMEOUT).then(
    (facts) => ({ facts }),
    (error) => ({ error: error instanceof Error ? error.message : String(error) }),
  );

function serverStatus(
  server: ServerName,
  result: ReadResult<MongoStatus | RedisStatus>,
  processes: readonly SeenProcess[] | null,
): ServerStatus {
  const lastOutage = lastOutageOf(server, processes ?? []);
  if ('error' in result) {
    const { error } = result;
    return { server, isReachable: false, error, version: null, role: null, lastOutage };
  }
  const { version, role, problem } = result.facts;
  return { server, isReachable: true, error: problem, version, role, lastOutage };
}

function lastOutageOf(server: ServerName, processes: readonly SeenProcess[]): ServerOutage | null {
  const reports = processes.flatMap(({ name, outages }) => {
    const outage = outages[server];
    return outage ? [{ name, ...outage }] : [];
  });
  const latest = Math.max(...reports.map(({ since }) => since));
  const same = reports.filter(({ since }) => since > latest - SAME_OUTAGE);
  const [one] = same;
  if (!one) return null;
  const since = Math.min(...same.map((outage) => outage.since));
  const isOver = same.every(({ until }) => until !== null);
  const lastedMs = isOver ? Math.max(...same.map(({ until }) => Number(until))) - since : null;
  const names = same.map(({ name }) => name);
  return { since: new Date(since).toISOString(), lastedMs, error: one.error, processes: names };
}

function clientsOf(
  { clients, recent }: MongoStatus,
  {
    processes,
    servers,
  }: Pick<ServiceStatus, 'servers'> & { readonly processes: readonly SeenProcess[] | null },
): ClientStatus[] {
  const [defaultRate = null] = processes?.flatMap((one) => one.defaultRate ?? []) ?? [];
  return clients.map((client) => ({
    ...clientStatus(client, recent.clients.get(client._id) ?? NO_PUSHES, defaultRate),
    state: stateOf(client, servers),
  }));
}

function stateOf(
  { enabled, paused }: ClientWithoutKeys,
  servers: readonly ServerStatus[],
): ClientState {
  if (!enabled) return 'disabled';
  if (paused) return 'paused';
  if (servers.some(({ isReachable }) => !isReachable)) return 'unknown';
  return servers.some(({ error }) => error !== null) ? 'blocked' : 'ok';
}

function clientStatus(
  { _id: clientId, systemCode, enabled, limit, paused }: ClientWithoutKeys,
  pushes: ClientPushes,
  defaultRate: number | null,
): Omit<ClientStatus, 'state'> {
  return {
    ...{ clientId, systemCode, isEnabled: enabled, rate: limit?.rate ?? defaultRate },
    ...pushes,
    paused: paused ? { since: paused.since.toISOString(), reason: paused.reason ?? null } : null,
  };
}

export interface ServerStatus {
  readonly server: ServerName;
  readonly isReachable: boolean;
  /** Why the service cannot use the server; null if there is no problem. */
  readonly error: string | null;
  readonly version: string | null;
  /** `primary`, `mongos`, `master`, …; null if the server is unreachable. */
  readonly role: string | null;
  /** Null if no outage is known. */
  readonly lastOutage: ServerOutage | null;
}

export interface ServerOutage {
  /** Earliest start that a process has reported; ISO-8601. */
  readonly since: string;
  /** Duration in milliseconds; null during the outage. */
  readonly lastedMs: number | null;
  readonly error: string;
  readonly processes: readonly string[];
}

export type ProcessStatus = Omit<SeenProcess, 'outages' | 'defaultRate'>;

/** `blocked`: the service rejects the pushes of every client. `unknown`: MongoDB or Redis does not answer. */
export type ClientState = 'ok' | 'paused' | 'disabled' | 'blocked' | 'unknown';

export interface ClientStatus extends ClientPushes {
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly isEnabled: boolean;
  readonly state: ClientState;
  /** Pushes per second. 0: no limit. Null: unknown. */
  readonly rate: number | null;
  readonly paused: { readonly since: string; readonly reason: string | null } | null;
}

/** The output of `matterctl status --json`. Parts from an unavailable server are null. */
export interface ServiceStatus {
  /** ISO-8601 */
  readonly at: string;
  readonly servers: readonly ServerStatus[];
  readonly processes: readonly ProcessStatus[] | null;
  readonly partitions: readonly PartitionView[] | null;
  /** Pushes of the last `spanMs` milliseconds, by result. */
  readonly flow: { readonly spanMs: number; readonly results: readonly ResultStatus[] } | null;
  readonly clients: readonly ClientStatus[] | null;
  readonly resendable: Resendable | null;
}
