/** Third parties: each sends one operation after the other, and retries as the README tells them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pushPath } from '../../src/protocol/paths';
import { type Answer, createSender, type Sender } from '../client/sender';
import type { Random } from '../harness/random';
import type { Attempt, AttemptEnd } from './history';
import type { ChaosOperation } from './operations';

export interface ChaosClient {
  readonly clientId: string;
  readonly systemCode: string;
  readonly secret: string;
}

/** A web process as callers know it. */
export interface Target {
  readonly name: string;
  readonly url: string;
}

export interface CallerOptions {
  readonly client: ChaosClient;
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
export async function runCaller(options: CallerOptions): Promise<void> {
  const { client, targets, signal, pause } = options;
  const senders = new Map<string, Sender>(
    targets.map(({ name, url }) => [
      name,
      createSender({ url, ...client, concurrency: 1, timeout: TIMEOUT }),
    ]),
  );
  try {
    while (!signal.aborted) {
      await pushUntilSettled(options, senders, options.next());
      await rest(pause, signal);
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
    await rest(Math.max(wait, backoff), signal);
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

/** Ends early with the signal. */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
