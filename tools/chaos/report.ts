/** The report of a run: a table for people, one object for machines. */

import { countBy, mib, sum } from '../harness/figures';
import type { MemorySummary } from '../harness/memory';
import { type BenchReport, countLines, textTable } from '../harness/report';
import { PROMISES, type Rule, type Violation } from './check/evidence';
import { countOperations, type OperationCounts } from './check/soundness';
import { type DirectedResult, isDetected } from './directed';
import type { Fault, PushAttempt, Span } from './history';
import { breakableOf, type Mechanism } from './mechanisms';
import type { ChaosOptions, ChaosResult } from './run';
import { confirmedAfter } from './watches';

/** Maximum violations in the report, for each rule. */
const SHOWN = 5;

type ReportedOptions = Pick<ChaosOptions, 'seed' | 'duration' | 'rejectsKillSessions'>;

export function faultsReport(options: ReportedOptions, result: ChaosResult): BenchReport {
  const { violations, crashes } = result;
  const summary = summarize(options, result);
  const passed = violations.length + crashes.length === 0;
  return { passed, summary, text: reportText(summary, violations) };
}

/** @returns the report of a run without a mechanism; it passes without violations, so a run that detects it fails */
export function brokenReport(broken: Mechanism, result: DirectedResult): BenchReport {
  const { history, violations, crashes } = result;
  const summary = {
    broken,
    isDetected: isDetected(broken, result),
    answers: count(history.attempts, answerOf),
    faults: count(history.faults, ({ kind }: Fault) => kind),
    crashes,
    violations: count(violations, ({ rule }: Violation) => rule),
    found: firstOfEach(violations),
  };
  const rows = [
    ['removed', `${broken}: ${breakableOf(broken).purpose}`],
    ['answers', countLines(summary.answers)],
    ['faults', countLines(summary.faults)],
    ['crashes', String(crashes.length)],
    ['violations', violations.length === 0 ? '0' : countLines(summary.violations)],
    ['the check has detected it', summary.isDetected ? 'yes' : 'no'],
  ];
  const text = [textTable(rows), ...allDetails(violations), ...crashes].join('\n');
  return { passed: violations.length + crashes.length === 0, summary, text };
}

interface ChaosSummary {
  readonly seed: string;
  readonly seconds: number;
  /** Operations by result. */
  readonly operations: OperationCounts;
  readonly requests: number;
  /** Requests with a batch, and their lines. */
  readonly batches: number;
  readonly lines: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  /** For each election, milliseconds until the first confirmed push; null if no push was confirmed. */
  readonly confirmedAfterElectionMs: readonly (number | null)[];
  /** Errors of the clocks in seconds, by process. */
  readonly clocks: Readonly<Record<string, number>>;
  /** Whether the database always rejected killSessions. */
  readonly rejectsKillSessions: boolean;
  readonly recoveredAfterMs: number;
  /** How long the harness itself stalled. */
  readonly stalledMs: number;
  /** How long servers did not answer, including their faults. */
  readonly serversStalledMs: number;
  readonly crashes: readonly string[];
  /** Bytes at the start, at the end, and the maximum. */
  readonly memory: Readonly<Record<string, MemorySummary>>;
  readonly violations: Readonly<Record<string, number>>;
  /** The first violations of each rule. */
  readonly found: readonly Violation[];
}

function summarize(
  { seed, duration, rejectsKillSessions }: ReportedOptions,
  { history, violations, recoveredAfter, crashes, memory }: ChaosResult,
): ChaosSummary {
  const { attempts, batches, faults, stalls, serverStalls, elections, clockShifts } = history;
  return {
    seed,
    seconds: Math.round(duration / 1_000),
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
    found: firstOfEach(violations),
  };
}

/** The first violations of each rule. */
function firstOfEach(violations: readonly Violation[]): Violation[] {
  return rulesOf(violations).flatMap((rule) =>
    violations.filter((violation) => violation.rule === rule).slice(0, SHOWN),
  );
}

const rulesOf = (violations: readonly Violation[]): Rule[] => [
  ...new Set(violations.map(({ rule }) => rule)),
];

const lengthOf = (spans: readonly Span[]) =>
  Math.round(sum(spans.map(({ from, to }) => to - from)));

function reportText(summary: ChaosSummary, violations: readonly Violation[]): string {
  const { operations, accepted, rejected, givenUp } = summary.operations;
  const rows = [
    ['seed', summary.seed],
    ['operations', String(operations)],
    ['accepted, finally rejected', `${accepted}, ${rejected}`],
    ['given up, or unanswered at the end', String(givenUp)],
    ['requests', String(summary.requests)],
    ['batches, lines', `${summary.batches}, ${summary.lines}`],
    ['answers', countLines(summary.answers)],
    ['faults', countLines(summary.faults)],
    ['killSessions was rejected', summary.rejectsKillSessions ? 'always' : 'only by faults'],
    ['clock errors', clockList(summary.clocks)],
    ['first push after an election', electionList(summary.confirmedAfterElectionMs)],
    ['recovered after the last fault', `${summary.recoveredAfterMs} ms`],
    ['the harness itself stalled for', `${summary.stalledMs} ms`],
    ['memory: start, end, maximum', memoryList(summary.memory)],
    ['crashes', String(summary.crashes.length)],
    ['violations', violations.length === 0 ? '0' : countLines(summary.violations)],
  ];
  return [textTable(rows), ...allDetails(violations), ...summary.crashes].join('\n');
}

const allDetails = (violations: readonly Violation[]): string[] =>
  rulesOf(violations).map((rule) => detailsOf(rule, violations));

function detailsOf(rule: Rule, violations: readonly Violation[]): string {
  const ofRule = violations.filter((violation) => violation.rule === rule);
  const lines = ofRule.slice(0, SHOWN).map(({ what, requestId, externalId }) => {
    const ids = [requestId, externalId].filter(Boolean).join(' ');
    return `  ${ids ? `${ids}: ` : ''}${what}`;
  });
  const hidden = ofRule.length > SHOWN ? [`  … and ${ofRule.length - SHOWN} more`] : [];
  return [`\n${rule}: ${PROMISES[rule]}`, ...lines, ...hidden].join('\n');
}

function answerOf({ end }: PushAttempt): string {
  if (end.kind !== 'answered') return end.kind;
  if (end.code === 0) return end.replayed ? 'replayed' : '0';
  return `${end.code} ${end.reason}`;
}

/** Sorted by frequency. */
function count<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts = Object.entries(countBy(items, nameOf));
  return Object.fromEntries(counts.sort(([, a], [, b]) => b - a));
}

const clockList = (clocks: ChaosSummary['clocks']) =>
  Object.entries(clocks)
    .map(([name, seconds]) => `${name}: ${seconds} s`)
    .join('\n') || 'none';

const electionList = (times: ChaosSummary['confirmedAfterElectionMs']) =>
  times.map((ms) => (ms === null ? 'never' : `${ms} ms`)).join(', ') || 'no election';

function memoryList(memory: ChaosSummary['memory']): string {
  const whole = (bytes: number) => String(Math.round(mib(bytes)));
  return Object.entries(memory)
    .map(
      ([type, { first, last, max }]) => `${type}: ${[first, last, max].map(whole).join(', ')} MiB`,
    )
    .join('\n');
}
