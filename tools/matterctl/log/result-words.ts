/** Outcomes and reasons as options take them: in any case, and only those that there are. */
import { InvalidArgumentError } from 'commander';
import { OUTCOMES } from '../../../src/domain/decide';
import { ALL_REASONS } from '../../../src/protocol/errors';
import { likelyName } from '../../../src/protocol/likely-name';
import { LOG_STATES } from '../../../src/storage/push-log/entry-model';

const KINDS: Readonly<Record<string, readonly string[]>> = {
  outcome: OUTCOMES,
  reason: ALL_REASONS,
  state: LOG_STATES,
};

/** Of an option that may be given several times, and take several at once: `A,B`. */
export const toOutcomes = (text: string, before: readonly string[] = []) => [
  ...before,
  ...text.split(',').map((word) => toKnown(word.trim(), 'outcome')),
];
export const toReasons = (text: string, before: readonly string[] = []) => [
  ...before,
  ...text.split(',').map((word) => toKnown(word.trim(), 'reason')),
];

/** @throws InvalidArgumentError with the word that was likely meant, and all that there are */
function toKnown(text: string, kind: string): string {
  const word = text.toUpperCase();
  const known = KINDS[kind] ?? [];
  if (known.includes(word)) return word;
  const other = Object.keys(KINDS).find((name) => KINDS[name]?.includes(word));
  const meant = likelyName(word, known);
  const hint = other
    ? `That is ${other === 'outcome' ? 'an' : 'a'} ${other}: --${other} ${word}.`
    : meant && `Did you mean ${meant}?`;
  throw new InvalidArgumentError(
    [hint, `The ${kind}s are: ${known.join(', ')}.`].filter(Boolean).join(' '),
  );
}
