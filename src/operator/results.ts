/** Pushes by what became of them, as the screen has them. */
import { isReason, PushError } from '../protocol/errors';

export const KINDS = ['written', 'unchanged', 'rejected', 'failed'] as const;
export type Kind = (typeof KINDS)[number];

/** Took effect, and changed nothing. */
const UNCHANGED: readonly string[] = ['STALE_IGNORED', 'REPLAYED', 'ALREADY_DELETED'];

/** Ours, not the caller's; a pause is an operator's wish. */
export const isFailure = (result: string): boolean =>
  isReason(result) && result !== 'CLIENT_PAUSED' && new PushError(result).code >= 500;

/** @param result an outcome, REPLAYED, or a reason */
export function kindOf(result: string): Kind {
  if (isFailure(result)) return 'failed';
  if (isReason(result)) return 'rejected';
  return UNCHANGED.includes(result) ? 'unchanged' : 'written';
}
