/** What a caller sends next: one operation, or a batch of them. */
import type { Random } from '../harness/random';
import type { ChaosOperation, NextOperation } from './operations';

/** Operations that go in one request, in their order. */
export interface ChaosBatch {
  /** X-Idempotency-Key of the request. A line without a key of its own has `<key>/<line>` then. */
  readonly key: string | undefined;
  /** Their keys are those that they have in the end, however they come by them. */
  readonly lines: readonly ChaosOperation[];
}

export type Work = ChaosOperation | ChaosBatch;

export const isBatch = (work: Work): work is ChaosBatch => 'lines' in work;

const MOST_LINES = 50;
/** Of sizes that are drawn as below. */
const MEAN_LINES = 12;
/** Of the lines of a batch: how many are about a matter of an earlier one. */
const SAME_MATTER = 0.4;
const KEYED_BATCHES = 0.5;
/** Lines of a keyed batch that have a key of their own all the same. */
const OWN_KEYS = 0.3;

interface WorkOptions {
  readonly random: Random;
  /** Part of all keys. */
  readonly caller: number;
  readonly next: NextOperation;
  /** Of all pushes, how many go in batches: 0 to 1. */
  readonly share: number;
}

/** @returns a function that draws what one caller sends next */
export function createWork({ random, caller, next, share }: WorkOptions): () => Work {
  // Of the requests: a batch has many pushes.
  const batches = share / (MEAN_LINES * (1 - share) + share);
  let drawn = 0;
  return () => {
    if (random.real(0, 1) >= batches) return next();
    drawn += 1;
    const key = random.real(0, 1) < KEYED_BATCHES ? `batch-${caller}-${drawn}` : undefined;
    return { key, lines: drawLines(random, next, key) };
  };
}

/** Small ones are more frequent, so that there are many of them and most pushes are in large ones. */
function drawLines(random: Random, next: NextOperation, key: string | undefined): ChaosOperation[] {
  const count = Math.floor((MOST_LINES + 1) ** random.real(0, 1));
  const lines: ChaosOperation[] = [];
  const about: string[] = [];
  for (let line = 1; line <= count; line += 1) {
    const isAgain = about.length > 0 && random.real(0, 1) < SAME_MATTER;
    const operation = next(isAgain ? random.pick(about) : undefined);
    const { externalId } = JSON.parse(operation.body);
    if (externalId !== undefined) about.push(externalId);
    const hasOwn = operation.idempotencyKey !== undefined && random.real(0, 1) < OWN_KEYS;
    const isDerived = key !== undefined && !hasOwn;
    lines.push(isDerived ? { ...operation, idempotencyKey: `${key}/${line}` } : operation);
  }
  return lines;
}

/** The body of the request, as a push file has it; a key that follows from the batch's is left out. */
export function batchText({ key, lines }: ChaosBatch): string {
  return lines
    .map(({ name, body, idempotencyKey }, index) => {
      const isDerived = key !== undefined && idempotencyKey === `${key}/${index + 1}`;
      const own = isDerived || idempotencyKey === undefined ? '' : `,"key":"${idempotencyKey}"`;
      return `{"op":"${name}","body":${body}${own}}\n`;
    })
    .join('');
}

/** How a caller goes on with what is not settled of a batch. */
export type Again = 'whole' | 'rest' | 'singly';

/** The whole batch is sent again only where none of its lines could take a second effect. */
export function drawAgain(random: Random, { lines }: ChaosBatch): Again {
  const isKeyed = lines.every(({ idempotencyKey }) => idempotencyKey !== undefined);
  return random.weighted([
    ['whole', isKeyed ? 2 : 0],
    ['rest', 1],
    ['singly', 0.5],
  ] as const);
}
