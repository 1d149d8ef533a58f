/** The next request of a caller: one operation, or a batch of operations. */
import type { Random } from '../harness/random';
import type { ChaosOperation, NextOperation } from './operations';

/** Operations of one request, in order. */
export interface ChaosBatch {
  /** X-Idempotency-Key of the request. A line without its own key then has `<key>/<line>`. */
  readonly key: string | undefined;
  /** Each with its effective key: its own one, or the one derived from the key of the batch. */
  readonly lines: readonly ChaosOperation[];
}

export type ChaosWork = ChaosOperation | ChaosBatch;

export const isBatchWork = (work: ChaosWork): work is ChaosBatch => 'lines' in work;

const MAX_LINES = 50;
/** Mean of the sizes that `drawLines` draws. */
const MEAN_LINES = 12;
/** Share of the lines that have the matter of an earlier line. */
const SAME_MATTER = 0.4;
const KEYED_BATCHES = 0.5;
/** Share of the lines of a keyed batch that still have their own key. */
const OWN_KEYS = 0.3;

interface WorkOptions {
  readonly random: Random;
  /** Number of the caller; it is part of all keys. */
  readonly caller: number;
  readonly next: NextOperation;
  /** Share of the pushes that are sent in batches: 0 to 1. */
  readonly share: number;
}

/** @returns a function that draws the next request of one caller */
export function createWork({ random, caller, next, share }: WorkOptions): () => ChaosWork {
  // Share of the requests, not of the pushes.
  const batches = share / (MEAN_LINES * (1 - share) + share);
  let drawn = 0;
  return () => {
    if (random.real(0, 1) >= batches) return next();
    drawn += 1;
    const key = random.real(0, 1) < KEYED_BATCHES ? `batch-${caller}-${drawn}` : undefined;
    return { key, lines: drawLines(random, next, key) };
  };
}

/** Small batches are more frequent, so that there are many, while most pushes are in large ones. */
function drawLines(random: Random, next: NextOperation, key: string | undefined): ChaosOperation[] {
  const count = Math.floor((MAX_LINES + 1) ** random.real(0, 1));
  const lines: ChaosOperation[] = [];
  const externalIds: string[] = [];
  for (let line = 1; line <= count; line += 1) {
    const isSameMatter = externalIds.length > 0 && random.real(0, 1) < SAME_MATTER;
    const operation = next(isSameMatter ? random.pick(externalIds) : undefined);
    const { externalId } = JSON.parse(operation.body);
    if (externalId !== undefined) externalIds.push(externalId);
    const hasOwn = operation.idempotencyKey !== undefined && random.real(0, 1) < OWN_KEYS;
    const isDerived = key !== undefined && !hasOwn;
    lines.push(isDerived ? { ...operation, idempotencyKey: `${key}/${line}` } : operation);
  }
  return lines;
}

/**
 * The body of the request. A key that is derived from the batch's key is omitted.
 *
 * @param isArray true: a JSON array; false: the format of a push file
 */
export function batchText({ key, lines }: ChaosBatch, isArray = false): string {
  const texts = lines.map(({ name, body, idempotencyKey }, index) => {
    const isDerived = key !== undefined && idempotencyKey === `${key}/${index + 1}`;
    const own = isDerived || idempotencyKey === undefined ? '' : `,"key":"${idempotencyKey}"`;
    return `{"op":"${name}","body":${body}${own}}`;
  });
  return isArray ? `[\n${texts.join(',\n')}\n]` : texts.map((text) => `${text}\n`).join('');
}

/** How a caller retries the unsettled lines of a batch. */
export type Again = 'whole' | 'rest' | 'singly';

/** The whole batch is sent again only if each line has a key, so that no line takes a second effect. */
export function drawAgain(random: Random, { lines }: ChaosBatch): Again {
  const isKeyed = lines.every(({ idempotencyKey }) => idempotencyKey !== undefined);
  return random.weighted([
    ['whole', isKeyed ? 2 : 0],
    ['rest', 1],
    ['singly', 0.5],
  ] as const);
}
