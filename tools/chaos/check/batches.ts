/** Batches: their order, what is skipped, and whether their answers and entries are those of their lines. */
import { groupOf } from '../../../src/domain/group';
import { isReason, PushError, type Reason } from '../../../src/protocol/errors';
import type { Attempt, BatchAnswer, BatchTry, History } from '../history';
import { createBatchLines, lineOf } from './batch-lines';
import type { Violation } from './evidence';
import type { Push, Pushes } from './pushes';

export function checkBatches({ attempts, batches }: History, pushes: Pushes): Violation[] {
  const lines = attemptsByRequest(attempts);
  return [
    ...batches.flatMap((batch) => checkAnswer(batch, lines.get(batch.request) ?? [], pushes)),
    ...[...lines.values()].flatMap(checkSkipped),
    ...linesByMatter(pushes.all).flatMap(checkOrder),
  ];
}

type Line = Attempt & Required<Pick<Attempt, 'batch'>>;

/** @returns the lines of each request, in their order */
function attemptsByRequest(attempts: readonly Attempt[]): Map<number, Line[]> {
  const found = new Map<number, Line[]>();
  for (const attempt of attempts) {
    if (!isLine(attempt)) continue;
    const { request } = attempt.batch;
    const known = found.get(request);
    if (known) known.push(attempt);
    else found.set(request, [attempt]);
  }
  return found;
}

const isLine = (attempt: Attempt): attempt is Line => attempt.batch !== undefined;

function checkAnswer(
  { answer, lines: count }: BatchTry,
  lines: readonly Line[],
  pushes: Pushes,
): Violation[] {
  if (!answer) return [];
  const { requestId } = answer;
  const wrong = [
    ...unlikeLines(answer, lines, count),
    ...lines.flatMap((line) => unlikeEntry(line, answer, pushes)),
  ];
  return wrong.map((what) => ({ rule: 'batch-answer', requestId, what }));
}

/** What the envelope says of its lines, and what they say themselves. */
function unlikeLines(answer: BatchAnswer, lines: readonly Line[], count: number): string[] {
  const { status, code, reason, total, succeeded, failed, lineNumbers } = answer;
  const accepted = lines.filter(({ end }) => end.kind === 'answered' && end.code === 0).length;
  const due = accepted === count ? 'status 200, code 0' : 'status 207, code 207 PARTIAL_FAILURE';
  const seen = `status ${status}, code ${code}${reason === undefined ? '' : ` ${reason}`}`;
  const isNumbered = lineNumbers.every((number, index) => number === index + 1);
  return [
    ...(seen === due
      ? []
      : [`${seen}, where ${accepted} of ${count} were accepted: due is ${due}`]),
    ...(total === count && succeeded === accepted && failed === count - accepted
      ? []
      : [`total ${total}, succeeded ${succeeded}, failed ${failed}: due is ${count}, ${accepted}`]),
    ...(isNumbered && lineNumbers.length === count
      ? []
      : [`results of lines ${lineNumbers}: due is 1 to ${count}, in this order`]),
  ];
}

/** The entry of a line says which batch and which line it was. */
function unlikeEntry({ batch, end }: Line, { requestId }: BatchAnswer, pushes: Pushes): string[] {
  if (end.kind !== 'answered') return [];
  const push = pushes.byId.get(end.requestId);
  if (!push) return [];
  const seen = push.batch ? `line ${push.batch.line} of ${push.batch.id}` : 'of no batch';
  const due = `line ${batch.line} of ${requestId}`;
  return seen === due ? [] : [`the entry ${push.id} is ${seen}, due is ${due}`];
}

const SKIPPED = 'SKIPPED_AFTER_FAILURE' satisfies Reason;

/** A line is skipped only where an earlier one about its matter failed for want of a server. */
function checkSkipped(lines: readonly Line[]): Violation[] {
  const failed = new Set<string>();
  return lines.flatMap(({ end, body, batch, name }): Violation[] => {
    if (end.kind !== 'answered') return [];
    const { externalId } = JSON.parse(body);
    const isExcused = failed.has(externalId);
    if (end.code >= 500 && !end.ofBatch) failed.add(externalId);
    if (end.reason !== SKIPPED || isExcused) return [];
    const what = `line ${batch.line}, ${name}: skipped, where no earlier line of its matter failed`;
    return [{ rule: 'batch-order', requestId: end.requestId, externalId, what }];
  });
}

function linesByMatter(pushes: readonly Push[]): (readonly Push[])[] {
  const matters = new Map<string, Push[]>();
  for (const push of pushes) {
    const { systemCode = '', externalId = '' } = push.entry;
    if (!push.batch) continue;
    const key = groupOf(systemCode, externalId);
    const known = matters.get(key);
    if (known) known.push(push);
    else matters.set(key, [push]);
  }
  return [...matters.values()].flatMap((of) => createBatchLines(of).all);
}

/** @param lines of one batch about one matter, in their order */
function checkOrder(lines: readonly Push[]): Violation[] {
  let last: Push | undefined;
  let failed: Push | undefined;
  return lines.flatMap((push): Violation[] => {
    const { entry, id: requestId } = push;
    const { state, result, revision, externalId = '' } = entry;
    const wrong = state === 'PERSISTED' ? disorder(push, last, failed) : undefined;
    if (revision !== undefined) last = push;
    if (isWantOfServer(push)) failed ??= push;
    if (wrong === undefined) return [];
    const what = `line ${lineOf(push)}, ${state} ${result}: ${wrong}`;
    return [{ rule: 'batch-order', requestId, externalId, what }];
  });
}

function disorder({ entry }: Push, last?: Push, failed?: Push): string | undefined {
  const [revision = Number.POSITIVE_INFINITY, before = 0] = [entry.revision, last?.entry.revision];
  if (last && revision <= before) {
    return `revision ${revision}, though line ${lineOf(last)} is revision ${before}`;
  }
  if (!failed) return undefined;
  const { state, result = '' } = failed.entry;
  return `applied, though line ${lineOf(failed)} of its matter is ${state} ${result}`;
}

/** Whether a push was not applied for a reason that is none of its own. */
function isWantOfServer({ entry: { state, result = '' } }: Push): boolean {
  if (state === 'EXPIRED') return true;
  return state === 'REFUSED' && isReason(result) && new PushError(result).code >= 500;
}
