/**
 * Finds external ids of a file that the ledger probably has in another form:
 *
 * - DAMAGED_ID: a spreadsheet has converted the id to a number.
 * - LOOK_ALIKE: the id in the file and the id in the ledger differ only in invisible characters, or in blanks at the
 *   ends.
 *
 * An upsert with the id of the file would create a second matter. Pure. The console in `browser/console` imports this
 * file too.
 */
import { lookAlike } from '../../protocol/look-alike';

export type DoubtKind = 'DAMAGED_ID' | 'LOOK_ALIKE';

export interface Doubt {
  readonly kind: DoubtKind;
  /** The id that the matter probably has in the ledger; undefined if no such id is known. */
  readonly probableId: string | undefined;
}

/** How a spreadsheet shows a long number, for example `1.23E+17` or, with a decimal comma, `1,23E+17`. */
const EXPONENT = /^\d(?:[.,]\d+)?E\+\d{2,3}$/i;
/**
 * Number of leading digits that a spreadsheet keeps in a number. The spreadsheet replaces all later digits with zeros.
 */
const KEPT_DIGITS = 15;
const LONG_NUMBER = /^\d{16,}$/;
const ROUNDED = /^\d{15}0+$/;
const WITH_ZEROS = /^0+\d+$/;
const WITHOUT_ZEROS = /^[1-9]\d*$/;

/** Whether a spreadsheet has certainly converted this id. */
export const isExponent = (id: string): boolean => EXPONENT.test(id);

/**
 * @param ofFile all ids of the file
 * @param open ids of open matters and drafts of the ledger; only ids that are not in the file
 * @returns a function that returns the doubt about an id of the file; undefined if there is none. Call the function
 *   only for ids that the ledger does not have
 */
export function createDoubtFinder(
  ofFile: Iterable<string>,
  open: Iterable<string>,
): (id: string) => Doubt | undefined {
  const seen = new SeenIds();
  for (const id of open) seen.addOpen(id);
  for (const id of ofFile) seen.addOfFile(id);
  return (id) => {
    const plain = lookAlike(id);
    const alike = seen.alike.get(plain);
    if (alike !== undefined && alike !== id) return { kind: 'LOOK_ALIKE', probableId: alike };
    // An id that `lookAlike` changes is doubtful even if no open matter has the changed id. A concluded matter can have
    // the changed id, and `open` does not contain concluded matters.
    if (plain !== id) return { kind: 'LOOK_ALIKE', probableId: plain };
    return seen.isDamaged(id)
      ? { kind: 'DAMAGED_ID', probableId: seen.probableIdOf(id) }
      : undefined;
  };
}

/** The ids of the file, and the ids of open matters (the parameter `open` of `createDoubtFinder`). */
class SeenIds {
  /** Ids of open matters, and ids of the file that `lookAlike` changes, by the result of `lookAlike`. */
  readonly alike = new Map<string, string>();
  /** Ids of open matters with leading zeros, by their form without these zeros. */
  readonly #byNumber = new Map<string, string>();
  /** Ids of open matters with more than 15 digits, by their length and first 15 digits. */
  readonly #byKeptDigits = new Map<string, string>();
  /** Among the ids of open matters with leading zeros: the number of digits of the longest id. */
  #longestWithZeros = 0;
  // True if an id of the file is the id of an open matter without leading zeros (`#haveLostZeros`), or rounded
  // (`#areRounded`). Then each id that can be damaged in the same way is doubtful, even if no open matter matches.
  #haveLostZeros = false;
  #areRounded = false;

  addOpen(id: string): void {
    this.alike.set(lookAlike(id), id);
    if (WITH_ZEROS.test(id)) {
      this.#byNumber.set(id.replace(/^0+(?=\d)/, ''), id);
      this.#longestWithZeros = Math.max(this.#longestWithZeros, id.length);
    }
    if (LONG_NUMBER.test(id)) this.#byKeptDigits.set(keptDigits(id), id);
  }

  /** Call this method after all calls of `addOpen`. */
  addOfFile(id: string): void {
    const plain = lookAlike(id);
    if (plain !== id && !this.alike.has(plain)) this.alike.set(plain, id);
    this.#haveLostZeros ||= this.#byNumber.has(id);
    this.#areRounded ||= ROUNDED.test(id) && this.#byKeptDigits.has(keptDigits(id));
  }

  isDamaged(id: string): boolean {
    if (isExponent(id) || this.probableIdOf(id) !== undefined) return true;
    const isShort = WITHOUT_ZEROS.test(id) && id.length < this.#longestWithZeros;
    return (this.#haveLostZeros && isShort) || (this.#areRounded && ROUNDED.test(id));
  }

  probableIdOf(id: string): string | undefined {
    if (LONG_NUMBER.test(id) && id.endsWith('0')) return this.#byKeptDigits.get(keptDigits(id));
    return WITHOUT_ZEROS.test(id) ? this.#byNumber.get(id) : undefined;
  }
}

const keptDigits = (id: string) => `${id.length}:${id.slice(0, KEPT_DIGITS)}`;
