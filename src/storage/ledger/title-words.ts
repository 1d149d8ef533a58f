/** Creates the conditions of a search for words in titles. */
import { literalPattern } from '../../domain/mentions';

interface WordCondition {
  readonly title: { readonly $regex: string; readonly $options: 'i' };
}

/** A title must contain all `words`, in any order. */
export const titleConditions = (words: string): WordCondition[] =>
  words
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => ({ title: { $regex: literalPattern(word), $options: 'i' } }));
