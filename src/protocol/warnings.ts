/** What the service accepts although it looks wrong (decisions, "Operations"). */

import type { Told } from './language';

/** Stable, for programs; new ones may be added. */
export const WARNING_KINDS = [
  'UNKNOWN_FIELD',
  'FIELD_NOT_APPLICABLE',
  'SYSTEM_CODE_IGNORED',
  'UNKNOWN_STATUS',
  'FUTURE_TIME',
  'UNKNOWN_INITIATOR',
  'NO_ASSIGNEE',
] as const;
export type WarningKind = (typeof WARNING_KINDS)[number];

export interface Warning {
  /** Path of the field, e.g. `parties[0].role`. */
  readonly field: string;
  readonly message: string;
  readonly kind: WarningKind;
  /** Of an unknown field: the field that was probably meant. */
  readonly suggestion?: string;
}

/** The same before it is told, and in the log: in both languages. */
export interface WarningInBoth extends Warning, Told {}

/** Of a push after which its TODO is in nobody's list. */
export const NO_ASSIGNEE: WarningInBoth = {
  field: 'parties',
  message: '没有 ASSIGNEE，该待办不会出现在任何人的待办列表中',
  english: "there is no ASSIGNEE, so the TODO is in nobody's list",
  kind: 'NO_ASSIGNEE',
};

/** @param unseen whether NO_ASSIGNEE belongs to them; it stands there once */
export function withUnseen(
  warnings: readonly WarningInBoth[],
  unseen: boolean,
): readonly WarningInBoth[] {
  const isTold = warnings.some(({ kind }) => kind === NO_ASSIGNEE.kind);
  return unseen && !isTold ? [...warnings, NO_ASSIGNEE] : warnings;
}
