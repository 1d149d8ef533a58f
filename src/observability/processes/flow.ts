/**
 * What became of the pushes that one web process answered in the last minutes, counted in memory: no more
 * than an addition for each. `matterctl status` reads it from the heartbeat, also where METRICS_PORT is off.
 */

import { OPERATIONS } from '../../domain/operation';
import type { PushError } from '../../protocol/errors';
import { BATCH_PATH, pushPath } from '../../protocol/paths';
import { addDurations, type Durations, durationClass } from '../../runtime/durations';

/** What is told of pushes that ended alike. */
export interface FlowResult {
  /** An outcome or a reason. */
  readonly result: string;
  readonly count: number;
  /** From receipt to answer. */
  readonly times: Durations;
}

export interface FlowClient {
  readonly clientId: string;
  readonly pushes: number;
  /** Those that the service failed (5xx, but for a pause). */
  readonly failed: number;
  /** Those that were wrong, or too many. */
  readonly rejected: number;
  /** Of the last push that did not go well. */
  readonly lastReason: string | null;
  /** Milliseconds since that push; null where there was none. */
  readonly lastReasonMs: number | null;
}

export interface FlowView {
  /** How long the pushes are counted for, milliseconds: less than WINDOW just after a start. */
  readonly spanMs: number;
  readonly results: readonly FlowResult[];
  readonly clients: readonly FlowClient[];
}

/** A push that is being answered. */
export interface FlowPush {
  readonly path: string;
  /** Known after its authentication. */
  readonly clientId: string | undefined;
  /** Milliseconds from receipt to answer. */
  readonly ms: number;
}

export interface Flow {
  /** @param pushes that ended alike: lines of a batch */
  answered(push: FlowPush, outcome: string, pushes?: number): void;
  rejected(push: FlowPush, error: PushError, pushes?: number): void;
  read(): FlowView;
}

/** Milliseconds that are counted, in slots. */
export const WINDOW = 300_000;
const SLOT = 30_000;
/** Clients of a slot that are told one by one. */
const MAX_CLIENTS = 100;
/** That of batches is about lines whose operation nobody knows. */
const PATHS: ReadonlySet<string> = new Set([...OPERATIONS.map(pushPath), BATCH_PATH]);

interface Counted {
  count: number;
  readonly times: Record<string, number>;
}
type ClientCount = { -readonly [F in keyof Omit<FlowClient, 'lastReasonMs'>]: FlowClient[F] } & {
  /** By the clock of the flow. */
  lastReasonAt: number | null;
};

interface Slot {
  readonly number: number;
  readonly results: Map<string, Counted>;
  readonly clients: Map<string, ClientCount>;
}

/** @param clock milliseconds that never go back */
export function createFlow(clock: () => number = () => performance.now()): Flow {
  const began = clock();
  let slots: Slot[] = [];
  const current = (): Slot => {
    const number = Math.floor(clock() / SLOT);
    const last = slots.at(-1);
    if (last?.number === number) return last;
    const slot = { number, results: new Map(), clients: new Map() };
    slots = [...slots.filter((old) => old.number > number - WINDOW / SLOT), slot];
    return slot;
  };
  const count = ({ path, clientId, ms }: FlowPush, result: string, went: Went, pushes = 1) => {
    if (!PATHS.has(path)) return;
    const { results, clients } = current();
    const counted = results.get(result) ?? { count: 0, times: {} };
    results.set(result, counted);
    counted.count += pushes;
    const length = durationClass(ms);
    counted.times[length] = (counted.times[length] ?? 0) + pushes;
    if (clientId === undefined) return;
    const client = clients.get(clientId) ?? emptyClient(clientId);
    if (clients.size < MAX_CLIENTS) clients.set(clientId, client);
    client.pushes += pushes;
    if (went === 'well') return;
    client[went] += pushes;
    client.lastReason = result;
    client.lastReasonAt = clock();
  };
  return {
    answered: (push, outcome, pushes) => count(push, outcome, 'well', pushes),
    rejected: (push, error, pushes) =>
      count(push, error.reason, isFailure(error) ? 'failed' : 'rejected', pushes),
    read: () => {
      // Also where nothing comes any more, what is old is forgotten.
      current();
      const now = clock();
      return { spanMs: Math.min(WINDOW, Math.round(now - began)), ...sumOf(slots, now) };
    },
  };
}

type Went = 'well' | 'failed' | 'rejected';

/** An operator's pause is no failure. */
const isFailure = ({ code, reason }: PushError) => code >= 500 && reason !== 'CLIENT_PAUSED';

const emptyClient = (clientId: string): ClientCount => ({
  ...{ clientId, pushes: 0, failed: 0, rejected: 0, lastReason: null, lastReasonAt: null },
});

function sumOf(slots: readonly Slot[], now: number): Pick<FlowView, 'results' | 'clients'> {
  return addFlows(
    slots.map(({ results, clients }) => ({
      results: [...results].map(([result, counted]) => ({ result, ...counted })),
      clients: Array.from(clients.values(), ({ lastReasonAt: at, ...client }) => ({
        ...client,
        lastReasonMs: at === null ? null : Math.round(now - at),
      })),
    })),
  );
}

/** Several together, those of the last minutes or of several processes; the most frequent results first. */
export function addFlows(
  flows: readonly Pick<FlowView, 'results' | 'clients'>[],
): Pick<FlowView, 'results' | 'clients'> {
  const results = new Map<string, Counted>();
  for (const { result, count, times } of flows.flatMap((flow) => flow.results)) {
    const sum = results.get(result) ?? { count: 0, times: {} };
    results.set(result, sum);
    sum.count += count;
    addDurations(sum.times, times);
  }
  const clients = new Map<string, FlowClient>();
  for (const client of flows.flatMap((flow) => flow.clients)) {
    const { clientId } = client;
    const sum = clients.get(clientId);
    clients.set(clientId, sum ? addClients(sum, client) : client);
  }
  return {
    results: [...results]
      .map(([result, counted]) => ({ result, ...counted }))
      .sort((a, b) => b.count - a.count),
    clients: [...clients.values()],
  };
}

function addClients(a: FlowClient, b: FlowClient): FlowClient {
  const age = ({ lastReasonMs }: FlowClient) => lastReasonMs ?? Number.POSITIVE_INFINITY;
  const { lastReason, lastReasonMs } = age(b) <= age(a) ? b : a;
  return {
    clientId: a.clientId,
    pushes: a.pushes + b.pushes,
    failed: a.failed + b.failed,
    rejected: a.rejected + b.rejected,
    lastReason,
    lastReasonMs,
  };
}
