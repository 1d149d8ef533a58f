/** Everything that the log knows of a push, for people. */
import type { FieldError } from '../../../src/protocol/errors';
import { type Cell, printable } from '../print';
import type { ShownEntry } from '../source/log-source';
import { changeLines } from './changes-text';
import { matterName, resultText } from './entry-cells';
import { localTime, shortTime } from './local-time';
import type { Attempt } from './other-attempts';

/** Other attempts that are named. */
const MAX_NAMED = 10;
/** Attempts of one key that are looked at. */
const MAX_COUNTED = 100;

/** One line: what it was and what became of it. */
export function headline(view: ShownEntry, timeZone: string): string {
  const what = `${view.operation}, ${matterName(view)}: ${resultText(view)}`;
  return printable(`${what} (times in ${timeZone})`);
}

/** Names and values; what a push does not have is left out. */
export function detailsOf(
  view: ShownEntry,
  attempts: readonly Attempt[],
  timeZone: string,
): Record<string, Cell> {
  const fields: Record<string, Cell> = {
    'request id': view.requestId,
    client: view.clientId,
    'secret id': view.secretId,
    system: view.systemCode,
    matter: view.externalId,
    'matter id': view.matterId,
    key: view.idempotencyKey,
    attempt: attemptText(view, attempts),
    'other attempts': otherAttempts(view, attempts),
    state: view.state,
    outcome: view.outcome,
    reason: view.reason,
    stale: staleText(view, timeZone),
    revision: view.revision,
    'duplicate of': view.duplicateOf,
    'resent from': view.resentFrom,
    'resent by': view.operator ?? null,
    mark: view.mark,
    worker: view.worker ?? null,
    'trace id': view.traceId,
    body: `${view.bodySize} bytes, SHA-256 ${view.bodyHash}`,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Lists, each under its title. */
export function listsOf(view: ShownEntry, timeZone: string): string[] {
  const lines = [
    ...block('problems', view.problems.map(problemLine)),
    ...block('warnings', view.warnings.map(problemLine)),
    ...block('changed', changeLines(view.changes, timeZone)),
  ];
  return lines.map(printable);
}

const problemLine = ({ field, message }: FieldError) => `${field}: ${message}`;

/** How a push was ignored: which instant lost against which. */
export function staleText({ stale }: ShownEntry, timeZone: string): string | null {
  if (!stale) return null;
  const [sent, stored] = [stale.sent, stale.stored].map((at) => shortTime(at, timeZone));
  return `ignored: sent ${sent} older than ${stored}`;
}

/** Of a push that nobody has settled yet. */
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
  const more = others.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more: log query --key`] : [])].join(', ');
}

const block = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
