/** Whether memory and rate stay what they were, tenth by tenth. Pure. */
import { goalRow, type Row } from '../chaos/load-report';
import type { MemorySummary } from '../chaos/samples';

/** A tenth of the pushes. */
export interface Tenth {
  readonly perSecond: number;
  /** Answers other than code 0, by status and reason. */
  readonly others: Readonly<Record<string, number>>;
  /** By type of process, bytes. */
  readonly memory: Readonly<Record<string, MemorySummary>>;
  /** Bytes in Redis for the signatures of the last 21 minutes, at its end. */
  readonly signatures: number;
}

export interface MillionFigures {
  readonly tenths: readonly Tenth[];
  readonly crashes: readonly string[];
}

/** Of the third tenth, when what grows at a start has grown; below so many MiB nothing is said. */
const MEMORY = 1.15;
const NOISE = 4;
/** Of the second tenth. */
const RATE = 0.9;
/** What is to stay flat; the database fills its cache, and is told beside. */
const FLAT = ['web', 'worker', 'redis data'];
/** A key-value server grows by its data: less what it is to hold. */
const HOLDS_SIGNATURES = ['redis data'];
/** Told to come again later: what a web process does while nothing is settled for seconds. */
const SHED = '503 BACKLOG_FULL';

export function millionRows({ tenths, crashes }: MillionFigures): Row[] {
  const rates = tenths.map(({ perSecond }) => perSecond);
  const kept = (rates.at(-1) ?? 0) / (rates[1] || 1);
  const others = tenths.flatMap((tenth) => Object.entries(tenth.others));
  const failed = others.filter(([what]) => what !== SHED);
  const count = failed.reduce((sum, [, number]) => sum + number, 0);
  return [
    { what: 'pushes per second, by tenths', seen: line(rates) },
    goalRow('rate of the last tenth, of the second', {
      value: kept,
      seen: kept.toFixed(2),
      least: RATE,
    }),
    ...FLAT.filter((type) => tenths[0]?.memory[type]).map((type) => flatRow(type, tenths)),
    overheadRow(tenths),
    {
      what: 'database: MiB, by tenths',
      seen: line(tenths.map(({ memory }) => mib(memory.mongo?.last ?? 0))),
    },
    {
      what: 'memory of signatures in Redis: MiB, by tenths',
      seen: line(tenths.map(({ signatures }) => mib(signatures))),
    },
    {
      what: `shed (${SHED}), by tenths`,
      seen: tenths.map((tenth) => tenth.others[SHED] ?? 0).join(' '),
    },
    goalRow('other answers than code 0', {
      value: count,
      seen: [count, ...failed.map(([what, number]) => `${what}: ${number}`)].join(' '),
      most: 0,
    }),
    goalRow('processes that ended', {
      value: crashes.length,
      seen: crashes.join('\n') || '0',
      most: 0,
    }),
  ];
}

function flatRow(type: string, tenths: readonly Tenth[]): Row {
  const isLess = HOLDS_SIGNATURES.includes(type);
  const sizes = tenths.map(({ memory, signatures }) =>
    mib((memory[type]?.last ?? 0) - (isLess ? signatures : 0)),
  );
  const before = sizes[2] ?? 0;
  const after = sizes.at(-1) ?? 0;
  const growth = after - before < NOISE ? Math.min(1, after / before) : after / before;
  return goalRow(`${type}${isLess ? ' without signatures' : ''}: MiB, by tenths`, {
    value: growth,
    seen: `${line(sizes)}: ${(after / before).toFixed(2)}`,
    most: MEMORY,
  });
}

/** What the process of Redis takes for what it holds, signatures included: its memory must not fray. */
function overheadRow(tenths: readonly Tenth[]): Row {
  const shares = tenths.map(
    ({ memory }) => (memory.redis?.last ?? 0) / (memory['redis data']?.last || 1),
  );
  const growth = (shares.at(-1) ?? 0) / (shares[2] || 1);
  return goalRow("redis' process, of all that it holds, by tenths", {
    value: growth,
    seen: `${shares.map((one) => one.toFixed(2)).join(' ')}: ${growth.toFixed(2)}`,
    most: MEMORY,
  });
}

const mib = (bytes: number) => bytes / 1024 / 1024;
const line = (numbers: readonly number[]) => numbers.map((one) => one.toFixed(0)).join(' ');
