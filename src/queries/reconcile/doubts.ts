/**
 * Ids of a file that are not in the ledger and are probably there under another form: a spreadsheet has taken them for
 * numbers, or a blank came or went. An upsert of such an id would make a second matter. Pure; served to the console too.
 */
import { lookAlike } from '../../protocol/look-alike';

export type DoubtKind = 'DAMAGED_ID' | 'LOOK_ALIKE';

export interface Doubt {
  readonly kind: DoubtKind;
  /** The id that is probably meant; undefined: it is not known. */
  readonly meant: string | undefined;
}

/** A spreadsheet shows a long number so, with the decimal sign of its language. */
const EXPONENT = /^\d(?:[.,]\d+)?E\+\d{2,3}$/i;
/** Digits that a spreadsheet keeps of a number; it puts zeros in place of the others. */
const KEPT_DIGITS = 15;
const LONG_NUMBER = /^\d{16,}$/;
const ROUNDED = /^\d{15}0+$/;
const WITH_ZEROS = /^0+\d+$/;
const WITHOUT_ZEROS = /^[1-9]\d*$/;

/** Whether a spreadsheet has made this of an id, whatever the ledger holds. */
export const isExponent = (id: string): boolean => EXPONENT.test(id);

/**
 * @param ofFile all ids of the file
 * @param open ids of matters that are open here and not in the file
 * @returns what is doubtful about an id of the file that is not here
 */
export function createDoubts(
  ofFile: Iterable<string>,
  open: Iterable<string>,
): (id: string) => Doubt | undefined {
  const seen = new SeenIds();
  for (const id of open) seen.addOpen(id);
  for (const id of ofFile) seen.addOfFile(id);
  return (id) => {
    const plain = lookAlike(id);
    const alike = seen.alike.get(plain);
    if (alike !== undefined && alike !== id) return { kind: 'LOOK_ALIKE', meant: alike };
    // It may be here without the blank and concluded, which is not among the open ones.
    if (plain !== id) return { kind: 'LOOK_ALIKE', meant: plain };
    return seen.isDamaged(id) ? { kind: 'DAMAGED_ID', meant: seen.meantBy(id) } : undefined;
  };
}

class SeenIds {
  /** By what they look like: ids that are open here, and those of the file that look like another one. */
  readonly alike = new Map<string, string>();
  /** Ids that are open here, by what a spreadsheet would make of them. */
  readonly #byNumber = new Map<string, string>();
  readonly #byKeptDigits = new Map<string, string>();
  /** One id of the file was damaged so: others of the same form are doubtful too, whether open here or not. */
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

  /** To be called when all open ids are known. */
  addOfFile(id: string): void {
    const plain = lookAlike(id);
    if (plain !== id && !this.alike.has(plain)) this.alike.set(plain, id);
    this.#haveLostZeros ||= this.#byNumber.has(id);
    this.#areRounded ||= ROUNDED.test(id) && this.#byKeptDigits.has(keptDigits(id));
  }

  isDamaged(id: string): boolean {
    if (isExponent(id) || this.meantBy(id) !== undefined) return true;
    const isShort = WITHOUT_ZEROS.test(id) && id.length < this.#longestWithZeros;
    return (this.#haveLostZeros && isShort) || (this.#areRounded && ROUNDED.test(id));
  }

  meantBy(id: string): string | undefined {
    if (LONG_NUMBER.test(id) && id.endsWith('0')) return this.#byKeptDigits.get(keptDigits(id));
    return WITHOUT_ZEROS.test(id) ? this.#byNumber.get(id) : undefined;
  }
}

const keptDigits = (id: string) => `${id.length}:${id.slice(0, KEPT_DIGITS)}`;
