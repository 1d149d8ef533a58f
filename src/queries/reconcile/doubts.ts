/**
 * Finds doubtful ids in a file. A doubtful id is probably a changed form of the right id. An upsert with a doubtful
 * id creates a second matter.
 *
 * - DAMAGED_ID: a spreadsheet has converted the id to a number.
 * - LOOK_ALIKE: the id, or another id that looks the same, has invisible characters or has blanks at the ends.
 *
 * The console (`browser/console`) bundles this file, so this file must run in a browser.
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
/** A spreadsheet replaces all digits after the first 15 with zeros. */
const KEPT_DIGITS = 15;
const LONG_NUMBER = /^\d{16,}$/;
const ROUNDED = /^\d{15}0+$/;
const WITH_ZEROS = /^0+\d+$/;
const WITHOUT_ZEROS = /^[1-9]\d*$/;

export const isExponent = (id: string): boolean => EXPONENT.test(id);

/** @param open the ids of the ledger's open matters and drafts, without the ids in the file */
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
    // The ledger can have a concluded matter with the id `plain`.
    if (plain !== id) return { kind: 'LOOK_ALIKE', probableId: plain };
    return seen.isDamaged(id)
      ? { kind: 'DAMAGED_ID', probableId: seen.probableIdOf(id) }
      : undefined;
  };
}

class SeenIds {
  /** Ids of open matters, and ids of the file that `lookAlike` changes, by the result of `lookAlike`. */
  readonly alike = new Map<string, string>();
  /** Ids with leading zeros, by their form without leading zeros. */
  readonly #byNumber = new Map<string, string>();
  /** Ids with more than 15 digits, by the result of `keptDigits`. */
  readonly #byKeptDigits = new Map<string, string>();
  /** Length of the longest id with leading zeros. */
  #longestWithZeros = 0;
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
