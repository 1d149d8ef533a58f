/** What was wrong with a rejected signature, as its client and operators are told. */

export interface Diagnosis {
  /** At least one; several where several mistakes came together. */
  readonly findings: readonly Finding[];
  /** Digests that were made and compared. */
  readonly tried: number;
  /** False: it was cut off by its bounds before everything was tried. */
  readonly complete: boolean;
}

export interface Finding {
  /** A stable code of docs/signature-causes.md; there may be new ones. */
  readonly cause: string;
  readonly explanation: string;
  readonly fix: string;
  /** Where the body was sent in another writing than it was signed in. */
  readonly difference?: Difference;
}

/** Where two bodies part. Both texts are short, and escaped as in JSON. */
export interface Difference {
  /** The first byte that differs, from 0. */
  readonly offset: number;
  readonly sent: string;
  readonly signed: string;
}
