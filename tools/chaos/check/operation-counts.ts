/** What became of whole operations, however many tries they took. */
import type { Attempt } from '../history';

export interface OperationCounts {
  readonly operations: number;
  /** One of its tries was answered 0. */
  readonly accepted: number;
  /** None was, and the last one was rejected for good. */
  readonly rejected: number;
  /** The last try settled nothing: its caller had enough of it, or the run ended. */
  readonly givenUp: number;
}

/** @param attempts in the order in which they ended */
export function countOperations(attempts: readonly Attempt[]): OperationCounts {
  const last = new Map<number, Attempt['end']>();
  const accepted = new Set<number>();
  for (const { operation, end } of attempts) {
    last.set(operation, end);
    if (end.kind === 'answered' && end.code === 0) accepted.add(operation);
  }
  const others = [...last].filter(([operation]) => !accepted.has(operation));
  const rejected = others.filter(([, end]) => isRejection(end)).length;
  return {
    operations: last.size,
    accepted: accepted.size,
    rejected,
    givenUp: others.length - rejected,
  };
}

/** A 400 or 404: what else there is of rejections says nothing about the operation. */
function isRejection(end: Attempt['end']): boolean {
  return end.kind === 'answered' && (end.code === 400 || end.code === 404);
}
