/**
 * The callers of a run. Each one sends an operation or a batch, waits for the answer, and retries as docs/integrate.md
 * describes. Each has its own random numbers.
 */

import { setMaxListeners } from 'node:events';
import { createSender, type Sender } from '../client/sender';
import type { Cluster } from '../harness/cluster';
import { type DirectoryClient, USERNAMES } from '../harness/directory';
import type { Random } from '../harness/random';
import { eitherSignal, pause } from '../harness/stopping';
import { type ChaosBatch, type ChaosWork, createWork, drawAgain, isBatchWork } from './batches';
import type { PushAttempt } from './history';
import { type ChaosOperation, createOperations, type World } from './operations';
import { type Recorder, type TryOptions, tryBatch, tryOperation } from './tries';

interface CrowdOptions {
  readonly random: Random;
  readonly callers: number;
  readonly keys: Pick<World, 'hotKeys' | 'coldKeys'>;
  /** Share of the pushes that are sent in batches: 0 to 1. */
  readonly batches: number;
  /** Milliseconds between two requests of a caller. */
  readonly pause: number;
  readonly record: Recorder;
  readonly signal: AbortSignal;
}

/**
 * Does some work while callers send single pushes. The callers stop when the work ends.
 *
 * @param work receives a signal that aborts when the run is given up, and the tries that have ended; the list grows
 * @returns the tries of the callers, including those that were answered after the work
 */
export async function besideCallers(
  cluster: Cluster,
  crowd: Omit<CrowdOptions, 'batches' | 'record' | 'signal'>,
  givenUp: AbortSignal | undefined,
  work: (signal: AbortSignal, attempts: readonly PushAttempt[]) => Promise<void>,
): Promise<readonly PushAttempt[]> {
  const stop = new AbortController();
  const signal = eitherSignal(stop.signal, givenUp);
  const attempts: PushAttempt[] = [];
  const record: Recorder = {
    attempt: (attempt) => void attempts.push(attempt),
    batch: () => undefined,
  };
  const callers = runCrowd(cluster, { ...crowd, batches: 0, record, signal });
  try {
    await work(signal, attempts);
  } finally {
    stop.abort();
    // A run that is given up does not wait for answers. The callers end with the cluster.
    if (!givenUp?.aborted) await callers;
  }
  return attempts;
}

/** Pushes until the signal aborts. Resolves when the last try is answered. */
export async function runCrowd({ clients, webs }: Cluster, options: CrowdOptions): Promise<void> {
  const { random, callers, keys, signal } = options;
  // Every caller adds several listeners.
  setMaxListeners(0, signal);
  const world = { ...keys, usernames: USERNAMES };
  const all = Array.from({ length: callers }, (_, caller) => {
    const client = clients[caller % clients.length];
    if (!client) throw new Error('the cluster has no clients');
    const own = random.fork(`caller ${caller}`);
    const next = createOperations(own.fork('operations'), caller, world);
    const draws = { random: own.fork('batches'), caller, next, share: options.batches };
    const nextRequest = numbers(caller);
    return runCaller({
      ...options,
      ...{ client, targets: webs, random: own, next: createWork(draws), nextRequest },
    });
  });
  await Promise.all(all);
}

/** Numbers that no other caller uses. */
function numbers(caller: number): () => number {
  let last = caller * 1_000_000;
  return () => {
    last += 1;
    return last;
  };
}

/** A web process, as callers see it. */
interface Target {
  readonly name: string;
  readonly url: string;
}

interface CallerOptions {
  readonly client: DirectoryClient;
  readonly targets: readonly Target[];
  readonly random: Random;
  readonly next: () => ChaosWork;
  /** Returns the number of the next batch request. */
  readonly nextRequest: () => number;
  readonly record: Recorder;
  /** Milliseconds between two requests. */
  readonly pause: number;
  /** Ends the caller after its current try. */
  readonly signal: AbortSignal;
}

/** Milliseconds: far beyond every deadline of the service. */
const TIMEOUT = 60_000;
const MAX_TRIES = 8;
const FIRST_BACKOFF = 50;
const LONGEST_BACKOFF = 2_000;
/** Share of the batches whose caller disconnects, and the maximum milliseconds until then. */
const LEFT = 0.03;
const LEFT_WITHIN = 1_000;

/** Runs until the signal aborts. No answer of the service makes it throw. */
async function runCaller(options: CallerOptions): Promise<void> {
  const { client, targets, signal, pause: between } = options;
  const senders = new Map<string, Sender>(
    targets.map(({ name, url }) => [
      name,
      createSender({ url, ...client, concurrency: 1, timeout: TIMEOUT }),
    ]),
  );
  try {
    while (!signal.aborted) {
      const work = options.next();
      if (isBatchWork(work)) await sendBatch(options, senders, work);
      else await sendOperation(options, senders, work);
      await pause(between, signal);
    }
  } finally {
    for (const sender of senders.values()) sender.close();
  }
}

/** Chooses a random web process. */
function wayOf({ random, targets, client, record }: CallerOptions, senders: Senders): TryOptions {
  const { name: web } = random.pick(targets);
  const sender = senders.get(web);
  if (!sender) throw new Error(`no sender for ${web}`);
  return { sender, web, client, record };
}

type Senders = ReadonlyMap<string, Sender>;

async function sendOperation(
  options: CallerOptions,
  senders: Senders,
  operation: ChaosOperation,
): Promise<void> {
  for (let tries = 1; !options.signal.aborted; tries += 1) {
    const wait = await tryOperation(wayOf(options, senders), operation);
    if (wait === undefined || tries === MAX_TRIES) return;
    await backOff(options, tries, wait);
  }
}

/** Retries unsettled lines: the whole batch, the remaining lines in a new batch, or each of them alone. */
async function sendBatch(
  options: CallerOptions,
  senders: Senders,
  first: ChaosBatch,
): Promise<void> {
  const { random, nextRequest, signal } = options;
  let batch = first;
  for (let tries = 1; !signal.aborted; tries += 1) {
    const numbered = { request: nextRequest(), cut: cutOf(random) };
    const { left, wait } = await tryBatch(wayOf(options, senders), batch, numbered);
    if (left.length === 0 || tries === MAX_TRIES) return;
    await backOff(options, tries, wait);
    const again = drawAgain(random, batch);
    if (again === 'singly') return sendSingly(options, senders, left);
    // Lines keep their keys when their line numbers change.
    if (again === 'rest') batch = { key: undefined, lines: left };
  }
}

async function sendSingly(
  options: CallerOptions,
  senders: Senders,
  operations: readonly ChaosOperation[],
): Promise<void> {
  for (const operation of operations) {
    if (options.signal.aborted) return;
    await sendOperation(options, senders, operation);
  }
}

function cutOf(random: Random): AbortSignal | undefined {
  if (random.real(0, 1) >= LEFT) return undefined;
  return AbortSignal.timeout(random.whole(0, LEFT_WITHIN));
}

async function backOff(
  { random, signal }: CallerOptions,
  tries: number,
  wait: number,
): Promise<void> {
  const backoff = Math.min(FIRST_BACKOFF * 2 ** tries, LONGEST_BACKOFF) * random.real(0.5, 1);
  await pause(Math.max(wait, backoff), signal);
}
