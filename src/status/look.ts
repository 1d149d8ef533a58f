/** One look at everything; a server that is away leaves its part of the screen empty, and no more. */

import { addFlows, type FlowClient } from '../observability/processes/flow';
import type { SeenProcess } from '../observability/processes/read-processes';
import type { PartitionView } from '../queue/view';
import { type Durations, percentile } from '../runtime/durations';
import type { ServerName } from '../runtime/outages';
import type { ClientFacts, MongoFacts, MongoLook, Resendable } from './mongo-look';
import type { RedisFacts, RedisLook } from './redis-look';

/** Milliseconds after which a server that does not answer counts as away. */
const TIMEOUT = 5_000;
/** Clocks of processes differ a little: outages that begin so near to each other, in ms, are one. */
const SAME = 5_000;

type Asked<T> = { readonly facts: T } | { readonly error: string };

export async function lookAtAll(
  mongo: Pick<MongoLook, 'look'>,
  redis: Pick<RedisLook, 'look'>,
): Promise<Status> {
  const [database, queue] = await Promise.all([ask(() => mongo.look()), ask(() => redis.look())]);
  const processes = 'facts' in queue ? queue.facts.processes : null;
  const web = processes?.flatMap(({ flow }) => flow ?? []);
  const flow = web && addFlows(web);
  const servers = [
    serverStatus('mongodb', database, processes),
    serverStatus('redis', queue, processes),
  ];
  return {
    at: new Date().toISOString(),
    servers,
    processes:
      processes?.map(({ flow: _flow, outages: _outages, defaultRate: _rate, ...told }) => told) ??
      null,
    partitions: 'facts' in queue ? queue.facts.partitions : null,
    flow: flow
      ? {
          spanMs: Math.max(0, ...(web ?? []).map(({ spanMs }) => spanMs)),
          results: flow.results.map(({ result, count, times }) => ({
            ...{ result, count, p50: timeAt(times, 0.5), p95: timeAt(times, 0.95) },
          })),
        }
      : null,
    clients:
      'facts' in database ? clientsOf(database.facts, flow?.clients, { processes, servers }) : null,
    resendable: 'facts' in database ? database.facts.resendable : null,
  };
}

async function ask<T>(look: () => Promise<T>): Promise<Asked<T>> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT} ms`)), TIMEOUT);
  });
  try {
    return { facts: await Promise.race([look(), tooLate]) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

function serverStatus(
  server: ServerName,
  asked: Asked<MongoFacts | RedisFacts>,
  processes: readonly SeenProcess[] | null,
): ServerStatus {
  const lastOutage = lastOutageOf(server, processes ?? []);
  if ('error' in asked) {
    const { error } = asked;
    return { server, isReachable: false, error, version: null, role: null, lastOutage };
  }
  const { version, role, problem } = asked.facts;
  return { server, isReachable: true, error: problem, version, role, lastOutage };
}

function lastOutageOf(server: ServerName, processes: readonly SeenProcess[]): ServerOutage | null {
  const met = processes.flatMap(({ name, outages }) => {
    const outage = outages[server];
    return outage ? [{ name, ...outage }] : [];
  });
  const latest = Math.max(...met.map(({ since }) => since));
  const same = met.filter(({ since }) => since > latest - SAME);
  const [one] = same;
  if (!one) return null;
  const since = Math.min(...same.map((outage) => outage.since));
  const isOver = same.every(({ until }) => until !== null);
  const lastedMs = isOver ? Math.max(...same.map(({ until }) => Number(until))) - since : null;
  const names = same.map(({ name }) => name);
  return { since: new Date(since).toISOString(), lastedMs, error: one.error, processes: names };
}

function clientsOf(
  { clients }: MongoFacts,
  counted: readonly FlowClient[] | undefined,
  {
    processes,
    servers,
  }: Pick<Status, 'servers'> & { readonly processes: readonly SeenProcess[] | null },
): ClientStatus[] {
  const flows = counted && new Map(counted.map((flow) => [flow.clientId, flow]));
  const [usual = null] = processes?.flatMap(({ defaultRate }) => defaultRate ?? []) ?? [];
  return clients.map((client) => ({
    ...clientStatus(client, flows ? (flows.get(client._id) ?? NO_PUSHES) : NOT_KNOWN, usual),
    state: stateOf(client, servers),
  }));
}

function stateOf({ enabled, paused }: ClientFacts, servers: readonly ServerStatus[]): ClientState {
  if (!enabled) return 'disabled';
  if (paused) return 'paused';
  if (servers.some(({ isReachable }) => !isReachable)) return 'unknown';
  return servers.some(({ error }) => error !== null) ? 'blocked' : 'ok';
}

const NO_PUSHES = { pushes: 0, failed: 0, rejected: 0, lastReason: null, lastReasonMs: null };
const NOT_KNOWN = { ...NO_PUSHES, pushes: null, failed: null, rejected: null };

function clientStatus(
  { _id: clientId, systemCode, enabled, limit, paused }: ClientFacts,
  { pushes, failed, rejected, lastReason, lastReasonMs }: Counted,
  usual: number | null,
): Omit<ClientStatus, 'state'> {
  return {
    ...{ clientId, systemCode, isEnabled: enabled, rate: limit?.rate ?? usual },
    ...{ pushes, failed, rejected, lastReason, lastReasonMs },
    paused: paused ? { since: paused.since.toISOString(), reason: paused.reason ?? null } : null,
  };
}

/** @returns milliseconds, whole; null where nothing was counted */
function timeAt(times: Durations, share: number): number | null {
  const ms = percentile(times, share);
  return ms === undefined ? null : Math.round(ms);
}

export interface ServerStatus {
  readonly server: ServerName;
  readonly isReachable: boolean;
  /** Why it is not reachable, or why pushes are rejected although it answers; null where all is well. */
  readonly error: string | null;
  readonly version: string | null;
  /** `primary`, `mongos`, `master`, …; null where it cannot be asked. */
  readonly role: string | null;
  /** The latest that any process has met; null where none is known. */
  readonly lastOutage: ServerOutage | null;
}

export interface ServerOutage {
  /** ISO-8601, by the clock of a process. */
  readonly since: string;
  /** Null while it lasts. */
  readonly lastedMs: number | null;
  readonly error: string;
  /** The processes that met it, by their names. */
  readonly processes: readonly string[];
}

export type ProcessStatus = Omit<SeenProcess, 'flow' | 'outages' | 'defaultRate'>;

export interface ResultStatus {
  readonly result: string;
  readonly count: number;
  /** Milliseconds from receipt to answer. */
  readonly p50: number | null;
  readonly p95: number | null;
}

/**
 * Whether its pushes are accepted now. `blocked`: a server answers, but pushes of every client are rejected (the queue
 * is paused, the database is not prepared). `unknown`: Redis does not answer this command.
 */
export type ClientState = 'ok' | 'paused' | 'disabled' | 'blocked' | 'unknown';

/** Of the pushes of a client; the numbers are null while Redis is away. */
interface Counted extends Pick<FlowClient, 'lastReason' | 'lastReasonMs'> {
  readonly pushes: number | null;
  readonly failed: number | null;
  readonly rejected: number | null;
}

/** Null where MongoDB cannot be asked. */
export interface ClientStatus extends Counted {
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly isEnabled: boolean;
  readonly state: ClientState;
  /** Pushes a second that it may send; 0: no limit; null: that of the service, which is not known. */
  readonly rate: number | null;
  readonly paused: { readonly since: string; readonly reason: string | null } | null;
}

/** What `matterctl status` knows after one look, as `--json` prints it. What cannot be known because a server is away is null. */
export interface Status {
  /** ISO-8601 */
  readonly at: string;
  readonly servers: readonly ServerStatus[];
  readonly processes: readonly ProcessStatus[] | null;
  readonly partitions: readonly PartitionView[] | null;
  /** Of pushes that were answered in the last minutes, of all processes together. */
  readonly flow: { readonly spanMs: number; readonly results: readonly ResultStatus[] } | null;
  readonly clients: readonly ClientStatus[] | null;
  /** Failed pushes of the last day that nobody has sent again. */
  readonly resendable: Resendable | null;
}
