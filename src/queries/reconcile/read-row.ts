/** From the fields of one line to what is compared and pushed, or to what is wrong with them. Pure; served to the console too. */
import { ASSIGNEE } from '../../files/columns';
import { readFileTime } from '../../files/times';
import { PUSHED_FIELDS, type Row } from './expected';

/** The rules of single fields: those of the service. */
export interface RowRules {
  readonly isExternalId: (value: unknown) => boolean;
  readonly isStatus: (value: unknown) => boolean;
  readonly isStatusCode: (value: unknown) => boolean;
  /** `sourceUpdatedAt` in any of its forms. @returns epoch milliseconds; undefined: it is none */
  readonly parseInstant: (value: string | number) => number | undefined;
  /** ISO-8601, local in the zone of the portal or with an offset. */
  readonly parseDateTime: (text: string) => number | undefined;
}

export type ReadRow = (fields: Readonly<Record<string, unknown>>) => {
  /** Undefined: something is wrong. */
  readonly row?: Row;
  /** Fields that are missing or not valid. */
  readonly wrong: readonly string[];
  /** How many of its times were serial numbers of a spreadsheet. */
  readonly serials: number;
};

/** Fields that a row may have. */
export const isRowField = (name: string): boolean =>
  EXPECTED_FIELDS.has(name) || PUSHED_FIELDS.has(name) || name === ASSIGNEE;

const EXPECTED_FIELDS: ReadonlySet<string> = new Set([
  ...['externalId', 'bizStatus', 'externalStatusCode', 'sourceUpdatedAt', 'deleted'],
]);

const isNothing = (value: unknown): value is null | undefined =>
  value === null || value === undefined;
const isFlag = (value: unknown) => isNothing(value) || typeof value === 'boolean';

export function createReadRow(rules: RowRules): ReadRow {
  return (fields) => {
    const { externalId, bizStatus, externalStatusCode: code, deleted, parties } = fields;
    const updated = timeOf(fields.sourceUpdatedAt, rules.parseInstant);
    const deadline = timeOf(fields.deadlineAt, rules.parseDateTime);
    const good = {
      externalId: rules.isExternalId(externalId),
      bizStatus: isNothing(bizStatus) || rules.isStatus(bizStatus),
      externalStatusCode: isNothing(code) || rules.isStatusCode(code),
      sourceUpdatedAt: updated !== undefined,
      deadlineAt: deadline !== undefined,
      deleted: isFlag(deleted),
      parties: isNothing(parties) || Array.isArray(parties),
      replaceParties: isFlag(fields.replaceParties),
      [ASSIGNEE]: isNothing(fields.assignee) || isList(fields.assignee),
    };
    const wrong = Object.entries(good).flatMap(([name, isGood]) => (isGood ? [] : [name]));
    const serials = [updated, deadline].filter((time) => time?.isSerial).length;
    if (wrong.length > 0 || !updated || !deadline) return { wrong, serials };
    return { row: toRow(fields, updated, deadline), wrong, serials };
  };
}

function toRow(fields: Readonly<Record<string, unknown>>, updated: Time, deadline: Time): Row {
  const { externalId, bizStatus, externalStatusCode, deleted, assignee } = fields;
  const pushed = Object.entries(fields).filter(
    ([name, value]) => value !== undefined && PUSHED_FIELDS.has(name),
  );
  const steps = {
    ...(updated.step > 1 && { sourceUpdatedAt: updated.step }),
    ...(deadline.step > 1 && { deadlineAt: deadline.step }),
  };
  const expected = {
    externalId,
    ...(!isNothing(bizStatus) && bizStatus !== '' && { bizStatus }),
    ...(externalStatusCode !== undefined && { externalStatusCode }),
    ...(typeof updated.at === 'number' && { sourceUpdatedAt: updated.at }),
    ...(!isNothing(deleted) && { deleted }),
  } as Row['expected'];
  return {
    kind: 'row',
    expected,
    pushed: {
      ...Object.fromEntries(pushed),
      ...(deadline.text !== undefined && { deadlineAt: deadline.text }),
    },
    ...(deadline.at !== undefined && { deadlineAt: deadline.at }),
    ...(isList(assignee) && { assignees: assignee }),
    ...(Object.keys(steps).length > 0 && { steps }),
  };
}

const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((it) => typeof it === 'string');

interface Time {
  /** Epoch milliseconds; null: stated as none; undefined: not stated. */
  readonly at: number | null | undefined;
  /** As the service reads it. */
  readonly text?: string;
  readonly step: number;
  readonly isSerial?: boolean;
}

/** @returns undefined: it is no time */
function timeOf<T extends string | number>(
  value: unknown,
  parse: (value: T) => number | undefined,
): Time | undefined {
  if (isNothing(value)) return { at: value, step: 1 };
  if (typeof value === 'number') {
    const at = parse(value as T);
    return at === undefined ? undefined : { at, step: 1 };
  }
  const time = typeof value === 'string' ? readFileTime(value.trim()) : undefined;
  const at = time && parse(time.text as T);
  return at === undefined || !time ? undefined : { at, ...time };
}
