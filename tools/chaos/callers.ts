/**
 * The third parties of a run, each with randomness of its own: each sends one operation after the
 * other, and retries as the README tells them.
 */

import { setMaxListeners } from 'node:events';
import { pushPath } from '../../src/protocol/paths';
import { type Answer, createSender, type Sender } from '../client/sender';
import type { Cluster } from '../harness/cluster';
import { type DirectoryClient, USERNAMES } from '../harness/directory';
import type { Random } from '../harness/random';
import { pause } from '../harness/stopping';
import type { Attempt, AttemptEnd } from './history';
import { type ChaosOperation, createOperations, type World } from './operations';

interface CrowdOptions {
  readonly random: Random;
  readonly callers: number;
  readonly keys: Pick<World, 'hotKeys' | 'coldKeys'>;
  /** Milliseconds of a caller between two operations. */
  readonly pause: number;
  /** Told of every try as it ends. */
  readonly record: (attempt: Attempt) => void;
  readonly signal: AbortSignal;
}

/** Pushes until the signal; resolves when the last try is answered. */
export async function runCrowd({ clients, webs }: Cluster, options: CrowdOptions): Promise<void> {
  const { random, callers, keys, signal } = options;
  // Every caller listens to it, more than once.
  setMaxListeners(0, signal);
  const world = { ...keys, usernames: USERNAMES };
  const all = Array.from({ length: callers }, (_, number) => {
    const client = clients[number % clients.length];
    if (!client) throw new Error('the cluster has no clients');
    const own = random.fork(`caller ${number}`);
    const next = createOperations(own.fork('operations'), number, world);
    return runCaller({ ...options, client, targets: webs, random: own, next });
  });
  await Promise.all(all);
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
  readonly next: () => ChaosOperation;
  /** Told of every try as it ends. */
  readonly record: (attempt: Attempt) => void;
  /** Milliseconds between two operations. */
  readonly pause: number;
  /** Ends the caller; the try that is under way is waited for. */
  readonly signal: AbortSignal;
}

/** Milliseconds: far beyond every deadline of the service. */
const TIMEOUT = 60_000;
const MOST_TRIES = 8;
const FIRST_BACKOFF = 50;
const LONGEST_BACKOFF = 2_000;

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
      await pushUntilSettled(options, senders, options.next());
      await pause(between, signal);
    }
  } finally {
    for (const sender of senders.values()) sender.close();
  }
}

async function pushUntilSettled(
  options: CallerOptions,
  senders: ReadonlyMap<string, Sender>,
  operation: ChaosOperation,
): Promise<void> {
  const { random, targets, signal } = options;
  for (let tries = 1; !signal.aborted; tries += 1) {
    const { name } = random.pick(targets);
    const sender = senders.get(name);
    if (!sender) throw new Error(`nobody sends to ${name}`);
    const wait = await tryOnce(options, { sender, name }, operation);
    if (wait === undefined || tries === MOST_TRIES) return;
    const backoff = Math.min(FIRST_BACKOFF * 2 ** tries, LONGEST_BACKOFF) * random.real(0.5, 1);
    await pause(Math.max(wait, backoff), signal);
  }
}

/** @returns undefined where that settled it; else the milliseconds that the service asks for */
async function tryOnce(
  { client, record }: CallerOptions,
  { sender, name }: { sender: Sender; name: string },
  operation: ChaosOperation,
): Promise<number | undefined> {
  const { idempotencyKey } = operation;
  const sentAt = performance.now();
  const outgoing = {
    path: pushPath(operation.name),
    body: Buffer.from(operation.body),
    idempotencyKey,
  };
  const { end, wait } = await sender.send(outgoing).then(readAnswer).catch(brokenOff);
  record({
    operation: operation.number,
    clientId: client.clientId,
    systemCode: client.systemCode,
    web: name,
    name: operation.name,
    body: operation.body,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    sentAt,
    endedAt: performance.now(),
    end,
  });
  return wait;
}

interface Tried {
  readonly end: AttemptEnd;
  /** Absent where there is nothing to retry. */
  readonly wait?: number;
}

function readAnswer({ status, text, retryAfter, replayed }: Answer): Tried {
  const { code, reason, requestId, retryable, data } = JSON.parse(text);
  const { externalId, outcome, matterId } = data ?? {};
  return {
    end: {
      kind: 'answered',
      status,
      code,
      requestId,
      replayed,
      ...(reason && { reason }),
      ...(externalId && { externalId, outcome, matterId }),
    },
    ...(retryable && { wait: Number(retryAfter ?? 0) * 1_000 }),
  };
}

function brokenOff(error: NodeJS.ErrnoException): Tried {
  if (error.code === 'ECONNREFUSED') return { end: { kind: 'refused' }, wait: 0 };
  if (error.code === 'NO_ANSWER_IN_TIME') return { end: { kind: 'hung' }, wait: 0 };
  return { end: { kind: 'lost', why: error.code ?? error.message }, wait: 0 };
}
