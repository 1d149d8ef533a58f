/** Compares the results of the overload with their goals. Pure. */
import { type Latency, mean, mib, sum, withoutAnswer } from '../harness/figures';
import type { LoadResult } from '../harness/load';
import type { MemorySummary } from '../harness/memory';
import { countLines, goalRow, noneRow, type ReportRow } from '../harness/report';
import { OVER, type OverloadRound } from './overload-rounds';

export interface OverloadFigures {
  /** PUSH_TIMEOUT, milliseconds. */
  readonly pushTimeout: number;
  readonly line: NarrowLine;
  readonly rounds: readonly OverloadRound[];
  readonly stall: Stall;
}

export interface NarrowLine {
  /** Pushes per second in a closed loop, without and with the limit of the connection. */
  readonly unthrottled: number;
  readonly throttled: number;
  readonly bytesPerSecond: number;
}

export interface Stall {
  /** Milliseconds. */
  readonly lasted: number;
  /** Of all answers. */
  readonly slowest: number;
  readonly answers: Readonly<Record<string, number>>;
  /** Milliseconds from the end of the stall to the next answer with code 0; undefined if there was no such answer. */
  readonly backAfter: number | undefined;
  /** Answers with code 0 per second, at the end of the arrivals. */
  readonly perSecondAtLast: number;
  readonly unsent: number;
  readonly crashes: readonly string[];
  readonly memory: Readonly<Record<string, MemorySummary>>;
  readonly ownDelay: LoadResult['ownDelay'];
}

/** Share of the peak. */
const GOODPUT = 0.95;
/** Milliseconds: p99 of rejections; any answer after the deadline; until the service continues. */
const REJECTION = 10;
const AFTER_DEADLINE = 1_000;
const BACK = 10_000;
/** MiB of a process with a full backlog: the memory of a small container. */
const MEMORY = 512;
const OURS = ['web', 'worker'];
/** Share of the usual rate, soon after a stall. */
const BACK_RATE = 0.5;

export function overloadRows(figures: OverloadFigures): ReportRow[] {
  const { line, rounds, stall, pushTimeout } = figures;
  const deadline = pushTimeout + AFTER_DEADLINE;
  return [
    {
      what: 'closed loop at 64, connection to the database free / limited',
      seen: `${rate(line.unthrottled)} / ${rate(line.throttled)} (${(line.bytesPerSecond / 1e6).toFixed(2)} MB/s)`,
    },
    ...rounds.flatMap(peakRows),
    goodputRow(rounds),
    ...rounds.flatMap((round, index) => roundRows(round, `round ${index + 1}`, deadline)),
    ...stallRows(stall, { deadline, usual: mean(rounds.map(({ perSecond }) => perSecond)) }),
  ];
}

function peakRows({ peaks }: OverloadRound, index: number): ReportRow[] {
  return peaks.map(({ connections, perSecond }) => ({
    what: `round ${index + 1}: peak at ${connections} connections`,
    seen: rate(perSecond),
  }));
}

/** Over all rounds, because other load on the machine affects a single one. */
function goodputRow(rounds: readonly OverloadRound[]): ReportRow {
  const peak = peakOf(rounds);
  const goodput = mean(rounds.map(({ perSecond }) => perSecond));
  const ratio = peak > 0 ? goodput / peak : 0;
  const each = rounds.map(({ perSecond }) => (perSecond / peak).toFixed(2));
  const seen = `${rate(goodput)} of ${rate(peak)}: ${ratio.toFixed(2)} (${each.join(', ')})`;
  return goalRow(`goodput at ${OVER}x the peak`, { value: ratio, seen, min: GOODPUT });
}

/** The mean of the best number of connections, because the best single round is chance. */
function peakOf(rounds: readonly OverloadRound[]): number {
  const all = rounds.flatMap(({ peaks }) => peaks);
  const counts = new Set(all.map(({ connections }) => connections));
  const meanOf = (count: number) =>
    mean(all.flatMap(({ connections, perSecond }) => (connections === count ? perSecond : [])));
  return Math.max(...[...counts].map(meanOf));
}

function roundRows(round: OverloadRound, name: string, deadline: number): ReportRow[] {
  const { rejected, accepted, late, others, unsent, ownDelay } = round;
  const without = round.rejectedWithoutRetryAfter;
  return [
    goalRow(
      `${name}: rejections 503, p50 / p99 / max`,
      { value: rejected.p99, seen: `${rejected.count}: ${spread(rejected)}`, max: REJECTION },
      ' ms (p99)',
    ),
    {
      what: `${name}: delay of the harness itself, p99 / max`,
      seen: `${ownDelay.p99.toFixed(1)} / ${ownDelay.max.toFixed(1)} ms`,
    },
    noneRow(`${name}: rejections without Retry-After`, without),
    goalRow(
      `${name}: accepted and confirmed, p50 / p99 / max`,
      { value: accepted.max, seen: `${accepted.count}: ${spread(accepted)}`, max: deadline },
      ' ms',
    ),
    noneRow(`${name}: accepted, but late (504)`, late),
    goalRow(`${name}: any other answer`, { value: total(others), seen: list(others), max: 0 }),
    noAnswerRow(name, others),
    noneRow(`${name}: not sent, too many in flight`, unsent),
  ];
}

function stallRows(
  stall: Stall,
  { deadline, usual }: { deadline: number; usual: number },
): ReportRow[] {
  const { backAfter, crashes, perSecondAtLast, memory, unsent, ownDelay } = stall;
  const share = usual > 0 ? perSecondAtLast / usual : 0;
  return [
    { what: `stall of ${(stall.lasted / 1_000).toFixed(0)} s: answers`, seen: list(stall.answers) },
    goalRow('stall: slowest answer', inMs(stall.slowest, deadline), ' ms'),
    noAnswerRow('stall', stall.answers),
    goalRow('stall: processes that ended', {
      value: crashes.length,
      seen: crashes.join('\n') || '0',
      max: 0,
    }),
    ...Object.entries(memory).flatMap(([type, { first, max }]) => {
      if (!OURS.includes(type)) return [];
      const seen = `${Math.round(mib(first))} / ${Math.round(mib(max))} MiB`;
      return goalRow(
        `stall: memory of ${type}, start / maximum`,
        { value: Math.round(mib(max)), seen, max: MEMORY },
        ' MiB',
      );
    }),
    goalRow('stall: continues after', inMs(backAfter ?? Infinity, BACK), ' ms'),
    goalRow('stall: rate soon after, share of the usual rate', {
      value: share,
      seen: `${rate(perSecondAtLast)}: ${share.toFixed(2)}`,
      min: BACK_RATE,
    }),
    {
      what: 'stall: delay of the harness itself, p99 / max; not sent',
      seen: `${ownDelay.p99.toFixed(1)} / ${ownDelay.max.toFixed(1)} ms; ${unsent}`,
    },
  ];
}

/** Pushes whose request was lost or hung, or whose answer was not from the service. */
function noAnswerRow(name: string, answers: Readonly<Record<string, number>>): ReportRow {
  const counts = withoutAnswer(answers);
  const value = total(counts);
  return goalRow(`${name}: pushes without an answer`, { value, seen: list(counts), max: 0 });
}

const inMs = (value: number, max: number) => ({ value, seen: `${value.toFixed(0)} ms`, max });
const rate = (perSecond: number) => `${perSecond.toFixed(0)}/s`;

function spread({ p50, p99, max }: Latency): string {
  return `${[p50, p99, max].map((ms) => ms.toFixed(1)).join(' / ')} ms`;
}

const total = (counts: Readonly<Record<string, number>>) => sum(Object.values(counts));
const list = (counts: Readonly<Record<string, number>>) => countLines(counts) || '0';
