/** Outcomes and reasons as options take them: in any case, and only those that there are. */
import { InvalidArgumentError } from 'commander';
import { OUTCOMES } from '../../domain/decide';
import { ALL_REASONS } from '../../errors';
import { LOG_STATES } from '../../push-log/entry-model';
import { nearest } from '../did-you-mean';

const KINDS: Readonly<Record<string, readonly string[]>> = {
  outcome: OUTCOMES,
  reason: ALL_REASONS,
  state: LOG_STATES,
};

export const toOutcome = (text: string) => toKnown(text, 'outcome');
export const toReason = (text: string) => toKnown(text, 'reason');

/** @throws InvalidArgumentError with the word that was likely meant, and all that there are */
function toKnown(text: string, kind: string): string {
  const word = text.toUpperCase();
  const known = KINDS[kind] ?? [];
  if (known.includes(word)) return word;
  const other = Object.keys(KINDS).find((name) => KINDS[name]?.includes(word));
  const meant = nearest(word, known);
  const hint = other
    ? `That is ${other === 'outcome' ? 'an' : 'a'} ${other}: --${other} ${word}.`
    : meant && `Did you mean ${meant}?`;
  throw new InvalidArgumentError(
    [hint, `The ${kind}s are: ${known.join(', ')}.`].filter(Boolean).join(' '),
  );
}
