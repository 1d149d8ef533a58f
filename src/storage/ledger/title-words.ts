/** Makes the conditions of a search by words of the title. Pure. */
import { literalPattern } from '../../domain/mentions';

/** Matches a title that contains a given word, in upper or lower case. */
interface WordCondition {
  readonly title: { readonly $regex: string; readonly $options: 'i' };
}

/** @param words separated by blanks; a title must contain all of them, in any order */
export const titleConditions = (words: string): WordCondition[] =>
  words
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => ({ title: { $regex: literalPattern(word), $options: 'i' } }));
