/** What the service accepts although it looks wrong (decisions, "Operations"). */

/** Stable, for programs; new ones may be added. */
export const WARNING_KINDS = [
  'UNKNOWN_FIELD',
  'FIELD_NOT_APPLICABLE',
  'SYSTEM_CODE_IGNORED',
  'UNKNOWN_STATUS',
  'FUTURE_TIME',
  'UNKNOWN_INITIATOR',
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
