/** Checks batches: the order of lines, skipped lines, and whether answers and entries match the lines. */
import { groupOf } from '../../../src/domain/matter';
import { isReason, PushError, type Reason } from '../../../src/protocol/errors';
import {
  type BatchAnswer,
  type BatchTry,
  type ChaosHistory,
  isAccepted,
  type PushAttempt,
} from '../history';
import { createBatchLines, lineOf } from './batch-lines';
import type { Violation } from './evidence';
import type { CheckedPush, CheckedPushes } from './pushes';

export function checkBatches(
  { attempts, batches }: ChaosHistory,
  pushes: CheckedPushes,
): Violation[] {
  const lines = attemptsByRequest(attempts);
  return [
    ...batches.flatMap((batch) => checkAnswer(batch, lines.get(batch.request) ?? [], pushes)),
    ...[...lines.values()].flatMap(checkSkipped),
    ...linesByMatter(pushes.all).flatMap(checkOrder),
  ];
}

type Line = PushAttempt & Required<Pick<PushAttempt, 'batch'>>;

/** @returns the lines of each request, in order */
function attemptsByRequest(attempts: readonly PushAttempt[]): Map<number, Line[]> {
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

const isLine = (attempt: PushAttempt): attempt is Line => attempt.batch !== undefined;

function checkAnswer(
  { answer, lines: count }: BatchTry,
  lines: readonly Line[],
  pushes: CheckedPushes,
): Violation[] {
  if (!answer) return [];
  const { requestId } = answer;
  const wrong = [
    ...unlikeLines(answer, lines, count),
    ...lines.flatMap((line) => unlikeEntry(line, answer, pushes)),
  ];
  return wrong.map((what) => ({ rule: 'batch-answer', requestId, what }));
}

/** Compares the envelope with the results of its lines. */
function unlikeLines(answer: BatchAnswer, lines: readonly Line[], count: number): string[] {
  const { status, code, reason, total, succeeded, failed, lineNumbers } = answer;
  const accepted = lines.filter(({ end }) => isAccepted(end)).length;
  const expected =
    accepted === count ? 'status 200, code 0' : 'status 207, code 207 PARTIAL_FAILURE';
  const seen = `status ${status}, code ${code}${reason === undefined ? '' : ` ${reason}`}`;
  const isNumbered = lineNumbers.every((number, index) => number === index + 1);
  return [
    ...(seen === expected
      ? []
      : [`${seen}, although ${accepted} of ${count} were accepted: expected ${expected}`]),
    ...(total === count && succeeded === accepted && failed === count - accepted
      ? []
      : [
          `total ${total}, succeeded ${succeeded}, failed ${failed}: expected ${count}, ${accepted}`,
        ]),
    ...(isNumbered && lineNumbers.length === count
      ? []
      : [`results of lines ${lineNumbers}: expected 1 to ${count}, in this order`]),
  ];
}

/** Checks that the entry of a line names its batch and its line. */
function unlikeEntry(
  { batch, end }: Line,
  { requestId }: BatchAnswer,
  pushes: CheckedPushes,
): string[] {
  if (end.kind !== 'answered') return [];
  const push = pushes.byId.get(end.requestId);
  if (!push) return [];
  const seen = push.batch ? `line ${push.batch.line} of ${push.batch.id}` : 'of no batch';
  const expected = `line ${batch.line} of ${requestId}`;
  return seen === expected ? [] : [`the entry ${push.id} is ${seen}, expected ${expected}`];
}

const SKIPPED = 'SKIPPED_AFTER_FAILURE' satisfies Reason;
/** The only server error after which later lines are applied: a retry would fail too. */
const FAILED_FOR_GOOD = 'OPERATION_FAILED' satisfies Reason;

/** Whether later lines of the matter must not be applied after a line with this result. */
const stopsLaterLines = (code: number, reason?: string) =>
  code >= 500 && reason !== FAILED_FOR_GOOD;

/** A line may be skipped only if an earlier line of its matter failed because a server was unavailable. */
function checkSkipped(lines: readonly Line[]): Violation[] {
  const failed = new Set<string>();
  return lines.flatMap(({ end, body, batch, name }): Violation[] => {
    if (end.kind !== 'answered') return [];
    const { externalId } = JSON.parse(body);
    const isExcused = failed.has(externalId);
    if (stopsLaterLines(end.code, end.reason) && !end.ofBatch) failed.add(externalId);
    if (end.reason !== SKIPPED || isExcused) return [];
    const what = `line ${batch.line}, ${name}: skipped, although no earlier line of its matter failed`;
    return [{ rule: 'batch-order', requestId: end.requestId, externalId, what }];
  });
}

function linesByMatter(pushes: readonly CheckedPush[]): (readonly CheckedPush[])[] {
  const matters = new Map<string, CheckedPush[]>();
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

/** @param lines of one batch and one matter, in order */
function checkOrder(lines: readonly CheckedPush[]): Violation[] {
  let last: CheckedPush | undefined;
  let failed: CheckedPush | undefined;
  return lines.flatMap((push): Violation[] => {
    const { entry, id: requestId } = push;
    const { state, result, revision, externalId = '' } = entry;
    const wrong = state === 'PERSISTED' ? disorder(push, last, failed) : undefined;
    if (revision !== undefined) last = push;
    if (isServerFailure(push)) failed ??= push;
    if (wrong === undefined) return [];
    const what = `line ${lineOf(push)}, ${state} ${result}: ${wrong}`;
    return [{ rule: 'batch-order', requestId, externalId, what }];
  });
}

function disorder(
  { entry }: CheckedPush,
  last?: CheckedPush,
  failed?: CheckedPush,
): string | undefined {
  const [revision = Number.POSITIVE_INFINITY, before = 0] = [entry.revision, last?.entry.revision];
  if (last && revision <= before) {
    return `revision ${revision}, though line ${lineOf(last)} is revision ${before}`;
  }
  if (!failed) return undefined;
  const { state, result = '' } = failed.entry;
  return `applied, though line ${lineOf(failed)} of its matter is ${state} ${result}`;
}

/** Whether a push failed because a server was unavailable or its deadline passed. */
function isServerFailure({ entry: { state, result = '' } }: CheckedPush): boolean {
  if (state === 'EXPIRED') return true;
  if (state !== 'REFUSED' || !isReason(result)) return false;
  return stopsLaterLines(new PushError(result).code, result);
}
