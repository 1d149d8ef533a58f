/** The overload's figures against their goals. Pure. */
import { type Latency, mean, mib, sum, withoutAnswer } from '../harness/figures';
import type { Spell } from '../harness/load';
import type { MemorySummary } from '../harness/memory';
import { countLines, goalRow, noneRow, type Row } from '../harness/report';
import { OVER, type OverloadRound } from './overload-rounds';

export interface OverloadFigures {
  /** PUSH_TIMEOUT, milliseconds. */
  readonly pushTimeout: number;
  readonly line: NarrowLine;
  readonly rounds: readonly OverloadRound[];
  readonly stall: Stall;
}

export interface NarrowLine {
  /** Pushes per second in a closed loop without and with the narrow line. */
  readonly unthrottled: number;
  readonly throttled: number;
  readonly bytesPerSecond: number;
}

export interface Stall {
  /** Milliseconds. */
  readonly lasted: number;
  /** Of all answers, whatever they said. */
  readonly slowest: number;
  readonly answers: Readonly<Record<string, number>>;
  /** Milliseconds from its end to the next answer of code 0; undefined: there was none. */
  readonly backAfter: number | undefined;
  /** Answers of code 0 per second, at the end of the arrivals. */
  readonly perSecondAtLast: number;
  readonly unsent: number;
  readonly crashes: readonly string[];
  readonly memory: Readonly<Record<string, MemorySummary>>;
  readonly ownDelay: Spell['ownDelay'];
}

/** Of the peak. */
const GOODPUT = 0.95;
/** Milliseconds: p99 of a rejection; above the deadline, of any answer; until it goes on by itself. */
const REJECTION = 10;
const AFTER_DEADLINE = 1_000;
const BACK = 10_000;
/** MiB of a process that holds a full backlog: what a small container has. */
const MEMORY = 512;
const OURS = ['web', 'worker'];
/** Of the rate before, soon after a stall. */
const BACK_RATE = 0.5;

export function overloadRows(figures: OverloadFigures): Row[] {
  const { line, rounds, stall, pushTimeout } = figures;
  const deadline = pushTimeout + AFTER_DEADLINE;
  return [
    {
      what: 'closed loop at 64, line to the database free / narrow',
      seen: `${rate(line.unthrottled)} / ${rate(line.throttled)} (${(line.bytesPerSecond / 1e6).toFixed(2)} MB/s)`,
    },
    ...rounds.flatMap(peakRows),
    goodputRow(rounds),
    ...rounds.flatMap((round, index) => roundRows(round, `round ${index + 1}`, deadline)),
    ...stallRows(stall, { deadline, usual: mean(rounds.map(({ perSecond }) => perSecond)) }),
  ];
}

function peakRows({ peaks }: OverloadRound, index: number): Row[] {
  return peaks.map(({ connections, perSecond }) => ({
    what: `round ${index + 1}: peak at ${connections} connections`,
    seen: rate(perSecond),
  }));
}

/** Over all rounds: one alone is at the mercy of what else the machine does. */
function goodputRow(rounds: readonly OverloadRound[]): Row {
  const peak = peakOf(rounds);
  const goodput = mean(rounds.map(({ perSecond }) => perSecond));
  const ratio = peak > 0 ? goodput / peak : 0;
  const each = rounds.map(({ perSecond }) => (perSecond / peak).toFixed(2));
  const seen = `${rate(goodput)} of ${rate(peak)}: ${ratio.toFixed(2)} (${each.join(', ')})`;
  return goalRow(`goodput at ${OVER}x the peak`, { value: ratio, seen, least: GOODPUT });
}

/** The best number of connections; of it the mean, since the best round would be luck. */
function peakOf(rounds: readonly OverloadRound[]): number {
  const all = rounds.flatMap(({ peaks }) => peaks);
  const counts = new Set(all.map(({ connections }) => connections));
  const meanOf = (count: number) =>
    mean(all.flatMap(({ connections, perSecond }) => (connections === count ? perSecond : [])));
  return Math.max(...[...counts].map(meanOf));
}

function roundRows(round: OverloadRound, name: string, deadline: number): Row[] {
  const { rejected, accepted, late, others, unsent, ownDelay } = round;
  const without = round.rejectedWithoutRetryAfter;
  return [
    goalRow(
      `${name}: rejections 503, p50 / p99 / max`,
      { value: rejected.p99, seen: `${rejected.count}: ${spread(rejected)}`, most: REJECTION },
      ' ms (p99)',
    ),
    {
      what: `${name}: of it the load's own lateness, p99 / max`,
      seen: `${ownDelay.p99.toFixed(1)} / ${ownDelay.max.toFixed(1)} ms`,
    },
    noneRow(`${name}: rejections without Retry-After`, without),
    goalRow(
      `${name}: accepted and done, p50 / p99 / max`,
      { value: accepted.max, seen: `${accepted.count}: ${spread(accepted)}`, most: deadline },
      ' ms',
    ),
    noneRow(`${name}: accepted, but late (504)`, late),
    goalRow(`${name}: any other answer`, { value: total(others), seen: list(others), most: 0 }),
    noAnswerRow(name, others),
    noneRow(`${name}: not sent, too many under way`, unsent),
  ];
}

function stallRows(stall: Stall, { deadline, usual }: { deadline: number; usual: number }): Row[] {
  const { backAfter, crashes, perSecondAtLast, memory, unsent, ownDelay } = stall;
  const share = usual > 0 ? perSecondAtLast / usual : 0;
  return [
    { what: `stall of ${(stall.lasted / 1_000).toFixed(0)} s: answers`, seen: list(stall.answers) },
    goalRow('stall: slowest answer', inMs(stall.slowest, deadline), ' ms'),
    noAnswerRow('stall', stall.answers),
    goalRow('stall: processes that ended', {
      value: crashes.length,
      seen: crashes.join('\n') || '0',
      most: 0,
    }),
    ...Object.entries(memory).flatMap(([type, { first, max }]) => {
      if (!OURS.includes(type)) return [];
      const seen = `${Math.round(mib(first))} / ${Math.round(mib(max))} MiB`;
      return goalRow(
        `stall: memory of ${type}, at first / at most`,
        { value: Math.round(mib(max)), seen, most: MEMORY },
        ' MiB',
      );
    }),
    goalRow('stall: goes on after', inMs(backAfter ?? Infinity, BACK), ' ms'),
    goalRow('stall: rate soon after, of the usual one', {
      value: share,
      seen: `${rate(perSecondAtLast)}: ${share.toFixed(2)}`,
      least: BACK_RATE,
    }),
    {
      what: "stall: the load's own lateness, p99 / max; not sent",
      seen: `${ownDelay.p99.toFixed(1)} / ${ownDelay.max.toFixed(1)} ms; ${unsent}`,
    },
  ];
}

/** Lost, hung, or no answer of the service at all. */
function noAnswerRow(name: string, answers: Readonly<Record<string, number>>): Row {
  const counts = withoutAnswer(answers);
  const value = total(counts);
  return goalRow(`${name}: pushes without an answer`, { value, seen: list(counts), most: 0 });
}

const inMs = (value: number, most: number) => ({ value, seen: `${value.toFixed(0)} ms`, most });
const rate = (perSecond: number) => `${perSecond.toFixed(0)}/s`;

function spread({ p50, p99, max }: Latency): string {
  return `${[p50, p99, max].map((ms) => ms.toFixed(1)).join(' / ')} ms`;
}

const total = (counts: Readonly<Record<string, number>>) => sum(Object.values(counts));
const list = (counts: Readonly<Record<string, number>>) => countLines(counts) || '0';
