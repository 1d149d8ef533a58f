/** What a run is told as: a table for people, one object for machines. */

import { countBy, mib, sum } from '../harness/figures';
import type { MemorySummary } from '../harness/memory';
import { countLines, type Report, textTable } from '../harness/report';
import { PROMISES, type Rule, type Violation } from './check/evidence';
import { countOperations, type OperationCounts } from './check/soundness';
import type { Attempt, Fault, Span } from './history';
import type { ChaosOptions, ChaosResult } from './run';
import { confirmedAfter } from './watches';

/** Of each rule at most so many violations are shown. */
const SHOWN = 5;

type Told = Pick<ChaosOptions, 'seed' | 'duration' | 'broken' | 'rejectsKillSessions'>;

export function faultsReport(options: Told, result: ChaosResult): Report {
  const { violations, crashes } = result;
  const summary = summarize(options, result);
  const passed = violations.length + crashes.length === 0;
  return { passed, summary, text: reportText(summary, violations) };
}

interface ChaosSummary {
  readonly seed: string;
  readonly seconds: number;
  readonly broken: string | null;
  /** What callers wanted done, what became of it, and the requests that it took. */
  readonly operations: OperationCounts;
  readonly requests: number;
  /** Requests that were batches, and the tries of pushes that they carried. */
  readonly batches: number;
  readonly lines: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  /** Of each election of a primary, milliseconds until the first push was confirmed; null: none was. */
  readonly confirmedAfterElectionMs: readonly (number | null)[];
  /** Seconds by which clocks were wrong, by process. */
  readonly clocks: Readonly<Record<string, number>>;
  /** Whether killSessions was rejected all the time. */
  readonly rejectsKillSessions: boolean;
  readonly recoveredAfterMs: number;
  /** How long the harness itself stood still. */
  readonly stalledMs: number;
  /** How long the servers answered nothing, their own faults included. */
  readonly serversStalledMs: number;
  readonly crashes: readonly string[];
  /** Bytes: at first, at last, at most. */
  readonly memory: Readonly<Record<string, MemorySummary>>;
  readonly violations: Readonly<Record<string, number>>;
  /** The first ones of each rule. */
  readonly found: readonly Violation[];
}

function summarize(
  { seed, duration, broken, rejectsKillSessions }: Told,
  { history, violations, recoveredAfter, crashes, memory }: ChaosResult,
): ChaosSummary {
  const { attempts, batches, faults, stalls, serverStalls, elections, clockShifts } = history;
  return {
    seed,
    seconds: Math.round(duration / 1_000),
    broken: broken ?? null,
    operations: countOperations(attempts),
    requests: attempts.filter(({ batch }) => !batch).length + batches.length,
    batches: batches.length,
    lines: sum(batches.map(({ lines }) => lines)),
    answers: count(attempts, answerOf),
    faults: count(faults, ({ kind }: Fault) => kind),
    confirmedAfterElectionMs: confirmedAfter(elections, attempts).map((ms) =>
      Number.isFinite(ms) ? Math.round(ms) : null,
    ),
    clocks: Object.fromEntries(
      [...clockShifts].map(([name, ms]) => [name, Math.round(ms / 1_000)]),
    ),
    rejectsKillSessions: rejectsKillSessions === true,
    recoveredAfterMs: Math.round(recoveredAfter),
    stalledMs: lengthOf(stalls),
    serversStalledMs: lengthOf(serverStalls),
    crashes,
    memory: Object.fromEntries(memory),
    violations: count(violations, ({ rule }: Violation) => rule),
    found: [...new Set(violations.map(({ rule }) => rule))].flatMap((rule) =>
      violations.filter((violation) => violation.rule === rule).slice(0, SHOWN),
    ),
  };
}

const lengthOf = (spans: readonly Span[]) =>
  Math.round(sum(spans.map(({ from, to }) => to - from)));

function reportText(summary: ChaosSummary, violations: readonly Violation[]): string {
  const { operations, accepted, rejected, givenUp } = summary.operations;
  const rows = [
    ['seed', summary.seed],
    ['broken on purpose', summary.broken ?? 'nothing'],
    ['operations', String(operations)],
    ['of them accepted, rejected for good', `${accepted}, ${rejected}`],
    ['of them given up, or under way at the end', String(givenUp)],
    ['requests', String(summary.requests)],
    ['of them batches, with lines', `${summary.batches}, ${summary.lines}`],
    ['answers', countLines(summary.answers)],
    ['faults', countLines(summary.faults)],
    ['killSessions was rejected', summary.rejectsKillSessions ? 'all the time' : 'by faults alone'],
    ['clocks were wrong by', clockList(summary.clocks)],
    ['first push after an election', electionList(summary.confirmedAfterElectionMs)],
    ['recovered after the last fault', `${summary.recoveredAfterMs} ms`],
    ['the harness itself stood still', `${summary.stalledMs} ms`],
    ['memory, at first, at last, at most', memoryList(summary.memory)],
    ['crashes', String(summary.crashes.length)],
    ['violations', violations.length === 0 ? '0' : countLines(summary.violations)],
  ];
  const rules = Object.keys(summary.violations) as Rule[];
  const details = rules.map((rule) => detailsOf(rule, violations));
  return [textTable(rows), ...details, ...summary.crashes].join('\n');
}

function detailsOf(rule: Rule, violations: readonly Violation[]): string {
  const those = violations.filter((violation) => violation.rule === rule);
  const lines = those.slice(0, SHOWN).map(({ what, requestId, externalId }) => {
    const about = [requestId, externalId].filter(Boolean).join(' ');
    return `  ${about ? `${about}: ` : ''}${what}`;
  });
  const more = those.length > SHOWN ? [`  … and ${those.length - SHOWN} more`] : [];
  return [`\n${rule}: ${PROMISES[rule]}`, ...lines, ...more].join('\n');
}

function answerOf({ end }: Attempt): string {
  if (end.kind !== 'answered') return end.kind;
  if (end.code === 0) return end.replayed ? 'replayed' : '0';
  return `${end.code} ${end.reason}`;
}

/** The most frequent one first. */
function count<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts = Object.entries(countBy(items, nameOf));
  return Object.fromEntries(counts.sort(([, a], [, b]) => b - a));
}

const clockList = (clocks: ChaosSummary['clocks']) =>
  Object.entries(clocks)
    .map(([name, seconds]) => `${name}: ${seconds} s`)
    .join('\n') || 'nothing';

const electionList = (times: ChaosSummary['confirmedAfterElectionMs']) =>
  times.map((ms) => (ms === null ? 'none' : `${ms} ms`)).join(', ') || 'there was none';

function memoryList(memory: ChaosSummary['memory']): string {
  const whole = (bytes: number) => String(Math.round(mib(bytes)));
  return Object.entries(memory)
    .map(
      ([type, { first, last, max }]) => `${type}: ${[first, last, max].map(whole).join(', ')} MiB`,
    )
    .join('\n');
}
