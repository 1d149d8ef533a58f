/**
 * The third parties of a run, each with randomness of its own: each sends one operation, or one batch of
 * them, after the other, and retries as the README tells them.
 */

import { setMaxListeners } from 'node:events';
import { createSender, type Sender } from '../client/sender';
import type { Cluster } from '../harness/cluster';
import { type DirectoryClient, USERNAMES } from '../harness/directory';
import type { Random } from '../harness/random';
import { eitherSignal, pause } from '../harness/stopping';
import { type ChaosBatch, createWork, drawAgain, isBatch, type Work } from './batches';
import type { Attempt } from './history';
import { type ChaosOperation, createOperations, type World } from './operations';
import { type Recorder, tryBatch, tryOperation, type Way } from './tries';

interface CrowdOptions {
  readonly random: Random;
  readonly callers: number;
  readonly keys: Pick<World, 'hotKeys' | 'coldKeys'>;
  /** Of all pushes, how many go in batches: 0 to 1. */
  readonly batches: number;
  /** Milliseconds of a caller between two requests. */
  readonly pause: number;
  readonly record: Recorder;
  readonly signal: AbortSignal;
}

/**
 * Works beside callers of single pushes, who end with the work.
 *
 * @param work told by its signal to give up
 * @returns the callers' tries, also of pushes that were answered after the work
 */
export async function besideCallers(
  cluster: Cluster,
  crowd: Omit<CrowdOptions, 'batches' | 'record' | 'signal'>,
  givenUp: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<readonly Attempt[]> {
  const stop = new AbortController();
  const signal = eitherSignal(stop.signal, givenUp);
  const attempts: Attempt[] = [];
  const record: Recorder = {
    attempt: (attempt) => void attempts.push(attempt),
    batch: () => undefined,
  };
  const callers = runCrowd(cluster, { ...crowd, batches: 0, record, signal });
  try {
    await work(signal);
  } finally {
    stop.abort();
    // Whoever gives the run up does not wait for answers: they end with the cluster.
    if (!givenUp?.aborted) await callers;
  }
  return attempts;
}

/** Pushes until the signal; resolves when the last try is answered. */
export async function runCrowd({ clients, webs }: Cluster, options: CrowdOptions): Promise<void> {
  const { random, callers, keys, signal } = options;
  // Every caller listens to it, more than once.
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

/** Numbers that no other caller has. */
function numbers(caller: number): () => number {
  let last = caller * 1_000_000;
  return () => {
    last += 1;
    return last;
  };
}

/** A web process as callers know it. */
interface Target {
  readonly name: string;
  readonly url: string;
}

interface CallerOptions {
  readonly client: DirectoryClient;
  readonly targets: readonly Target[];
  readonly random: Random;
  readonly next: () => Work;
  /** Numbers of batch requests. */
  readonly nextRequest: () => number;
  readonly record: Recorder;
  /** Milliseconds between two requests. */
  readonly pause: number;
  /** Ends the caller; the try that is under way is waited for. */
  readonly signal: AbortSignal;
}

/** Milliseconds: far beyond every deadline of the service. */
const TIMEOUT = 60_000;
const MOST_TRIES = 8;
const FIRST_BACKOFF = 50;
const LONGEST_BACKOFF = 2_000;
/** Of the batches, how many are broken off by their callers, and after how many milliseconds at most. */
const LEFT = 0.03;
const LEFT_WITHIN = 1_000;

/** Runs until its signal; never throws for what the service does. */
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
      if (isBatch(work)) await sendBatch(options, senders, work);
      else await sendOperation(options, senders, work);
      await pause(between, signal);
    }
  } finally {
    for (const sender of senders.values()) sender.close();
  }
}

/** To one of the web processes, as chance has it. */
function wayOf({ random, targets, client, record }: CallerOptions, senders: Senders): Way {
  const { name: web } = random.pick(targets);
  const sender = senders.get(web);
  if (!sender) throw new Error(`nobody sends to ${web}`);
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
    if (wait === undefined || tries === MOST_TRIES) return;
    await backOff(options, tries, wait);
  }
}

/** What is not settled goes again: the whole batch, or only its rest, or each push of that alone. */
async function sendBatch(
  options: CallerOptions,
  senders: Senders,
  first: ChaosBatch,
): Promise<void> {
  const { random, nextRequest, signal } = options;
  let batch = first;
  for (let tries = 1; !signal.aborted; tries += 1) {
    const how = { request: nextRequest(), cut: cutOf(random) };
    const { left, wait } = await tryBatch(wayOf(options, senders), batch, how);
    if (left.length === 0 || tries === MOST_TRIES) return;
    await backOff(options, tries, wait);
    const again = drawAgain(random, batch);
    if (again === 'singly') return sendSingly(options, senders, left);
    // Lines that move have the keys that they had where they stood.
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
