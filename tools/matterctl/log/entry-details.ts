/** Formats everything that the push log has about one push. */

import { type OperatorEntryView, operatorEntryView } from '../../../src/protocol/log-entry';
import type { Diagnosis, Finding } from '../../../src/protocol/log-page';
import type { FieldError } from '../../../src/protocol/warnings';
import { localTime } from '../local-time';
import { type Cell, printable } from '../print';
import type { LogSource, ShownEntry } from '../source/sources';
import { changeLines, matterName, resultText, staleText } from './entry-text';
import { firstEntries } from './first-entries';

/** Maximum other attempts that are listed. */
const MAX_NAMED = 10;
/** Maximum attempts with one key that are read: as many as have a number (`storage/push-log/lookups.ts`). */
const MAX_COUNTED = 100;

/** One use of an idempotency key. */
export interface Attempt {
  /** From 1, in the order of receipt. */
  readonly attempt: number;
  readonly requestId: string;
  readonly state: ShownEntry['state'];
}

/**
 * All pushes with the idempotency key of an entry: its retries, and other pushes with the same key. Empty without a
 * key.
 */
export async function attemptsOf(
  { systemCode, clientId, operation, idempotencyKey }: ShownEntry,
  source: Pick<LogSource, 'page'>,
): Promise<Attempt[]> {
  if (systemCode === null || idempotencyKey === null) return [];
  const uses = { systemCode, clientId, operation, idempotencyKey };
  const attempts: Attempt[] = [];
  for await (const entry of firstEntries(source, uses, { limit: MAX_COUNTED, oldestFirst: true })) {
    const { requestId, state } = entry;
    attempts.push({ attempt: attempts.length + 1, requestId, state });
  }
  return attempts;
}

/** One line: the operation, the matter and the result of a push. */
export function headline(view: ShownEntry, timeZone: string): string {
  const what = `${view.operation}, ${matterName(view)}: ${resultText(view)}`;
  return printable(`${what} (times in ${timeZone})`);
}

/** A line of the output: a field of the entry, or a text that is made of several fields. */
type Line = keyof OperatorEntryView | 'otherAttempts' | 'body';

const LINES: readonly Line[] = [
  ...(['requestId', 'clientId', 'secretId', 'systemCode', 'externalId', 'matterId'] as const),
  ...(['idempotencyKey', 'attempt', 'otherAttempts', 'state', 'outcome', 'reason'] as const),
  ...(['stale', 'revision', 'duplicateOf', 'resentFrom', 'operator', 'mark'] as const),
  ...(['worker', 'traceId'] as const),
];
/** Fields that the headline, the timeline, a list or the line of the body shows. */
const SHOWN_APART: readonly Line[] = [
  ...(['operation', 'receivedAt', 'deadlineAt', 'queuedAt', 'startedAt', 'settledAt'] as const),
  ...(['problems', 'warnings', 'changes', 'bodyHash', 'bodySize'] as const),
];
/** All other fields, also future ones, follow in this order. */
const FIELDS = Object.keys(operatorEntryView.shape) as (keyof OperatorEntryView)[];
const OTHERS = FIELDS.filter((field) => ![...LINES, ...SHOWN_APART].includes(field));

/** Names of lines that differ from the name of their field. */
const NAMES: Partial<Record<Line, string>> = {
  clientId: 'client',
  systemCode: 'system',
  externalId: 'matter',
  idempotencyKey: 'key',
  operator: 'resent by',
};

/** The names and values of the lines. A line without a value is left out. */
export function detailsOf(
  view: ShownEntry,
  attempts: readonly Attempt[],
  timeZone: string,
): Record<string, Cell> {
  const made: Partial<Record<Line, Cell>> = {
    attempt: attemptText(view, attempts),
    otherAttempts: otherAttempts(view, attempts),
    stale: staleText(view, timeZone),
    body: `${view.bodySize} bytes, SHA-256 ${view.bodyHash}`,
  };
  const values: Partial<Record<Line, unknown>> = { ...view, ...made };
  const lines = [...LINES, ...OTHERS, 'body' as const].map(
    (line) => [nameOf(line), toCell(values[line])] as const,
  );
  return Object.fromEntries(lines.filter(([, value]) => value !== null));
}

/** The name of a line, for example "duplicate of" for `duplicateOf`. */
const nameOf = (line: Line) =>
  NAMES[line] ?? line.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function toCell(value: unknown): Cell {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : (value as Cell);
}

/** The lists of an entry (problems, warnings, changes), each with its title. */
export function listsOf(view: ShownEntry, timeZone: string): string[] {
  const lines = [
    ...block('problems', view.problems.map(problemLine)),
    ...block('warnings', view.warnings.map(problemLine)),
    ...block('changed', changeLines(view.changes, timeZone)),
  ];
  return lines.map(printable);
}

const problemLine = ({ field, message }: FieldError) => `${field}: ${message}`;

/** The text for a push that is not settled yet. */
export function waitingText(deadlineAt: string, now: number, timeZone: string): string {
  const deadline = localTime(deadlineAt, timeZone);
  const isOver = Date.parse(deadlineAt) <= now;
  return `not settled; its caller ${isOver ? 'waited' : 'waits'} until ${deadline}`;
}

function attemptText({ attempt, idempotencyKey }: ShownEntry, all: readonly Attempt[]) {
  if (idempotencyKey === null) return null;
  const many = all.length < MAX_COUNTED ? String(all.length) : `${MAX_COUNTED} or more`;
  return attempt === null ? 'a later one' : `${attempt} of ${many}`;
}

function otherAttempts({ requestId }: ShownEntry, all: readonly Attempt[]): string | null {
  const others = all.filter((other) => other.requestId !== requestId);
  if (others.length === 0) return null;
  const named = others
    .slice(0, MAX_NAMED)
    .map(({ attempt, requestId: id, state }) => `${attempt}: ${id} ${state}`);
  const hidden = others.length - named.length;
  return [...named, ...(hidden > 0 ? [`${hidden} more: log query --key`] : [])].join(', ');
}

const block = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];

/** The lines of a signature diagnosis, with a title. */
export function diagnosisLines({ findings }: Diagnosis): string[] {
  return ['', 'signature', ...findings.flatMap(findingLines).map((line) => `  ${printable(line)}`)];
}

function findingLines({ cause, explanation, fix, difference }: Finding): string[] {
  const lines = [`${cause}: ${explanation}`, `  fix: ${fix}`];
  if (!difference) return lines;
  const { offset, sent, signed } = difference;
  return [
    ...lines,
    `  the first byte that differs: ${offset}`,
    `    sent:   ${sent}`,
    `    signed: ${signed}`,
  ];
}
