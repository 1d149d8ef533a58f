/** Reads and checks the fields of one line of a file. The console (`browser/console`) bundles this code. */
import { ASSIGNEE } from '../../files/columns';
import { readFileTime } from '../../files/times';
import { isExternalId, isNothing, isStatus, isText, MAX_LENGTH } from '../../protocol/field-rules';
import { parseDateTime, parseInstant } from '../../protocol/time';
import { PUSHED_FIELDS, type Row } from './expected';

export type ReadRow = (fields: Readonly<Record<string, unknown>>) => {
  /** Absent if a field is invalid. */
  readonly row?: Row;
  /** Names of the invalid fields. */
  readonly wrong: readonly string[];
  /** How many dates of the line are serial numbers of a spreadsheet, for example 45000. */
  readonly serials: number;
};

export const isRowField = (name: string): boolean =>
  EXPECTED_FIELDS.has(name) || PUSHED_FIELDS.has(name) || name === ASSIGNEE;

const EXPECTED_FIELDS: ReadonlySet<string> = new Set([
  ...['externalId', 'bizStatus', 'externalStatusCode', 'sourceUpdatedAt', 'deleted'],
]);

const isFlag = (value: unknown) => isNothing(value) || typeof value === 'boolean';

const isStatusCode = isText(MAX_LENGTH.externalStatusCode);

/** `timeZone` applies to times without a time zone. */
export function createReadRow(timeZone: string): ReadRow {
  return (fields) => {
    const { externalId, bizStatus, externalStatusCode: code, deleted } = fields;
    const { parties, removeParties } = fields;
    const updated = timeOf(fields.sourceUpdatedAt, (value: string | number) =>
      parseInstant(value, timeZone),
    );
    const deadline = timeOf(fields.deadlineAt, (text: string) => parseDateTime(text, timeZone));
    const good = {
      externalId: isExternalId(externalId),
      bizStatus: isNothing(bizStatus) || isStatus(bizStatus),
      externalStatusCode: isNothing(code) || isStatusCode(code),
      sourceUpdatedAt: updated !== undefined,
      deadlineAt: deadline !== undefined,
      deleted: isFlag(deleted),
      parties: isNothing(parties) || Array.isArray(parties),
      replaceParties: isFlag(fields.replaceParties),
      removeParties: isNothing(removeParties) || Array.isArray(removeParties),
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
  const precisions = {
    ...(updated.precision > 1 && { sourceUpdatedAt: updated.precision }),
    ...(deadline.precision > 1 && { deadlineAt: deadline.precision }),
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
    ...(Object.keys(precisions).length > 0 && { precisions }),
  };
}

const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((it) => typeof it === 'string');

interface Time {
  /** Epoch milliseconds; null or undefined for a missing value. */
  readonly at: number | null | undefined;
  /** The time in a form that the service accepts. */
  readonly text?: string;
  /** Precision in milliseconds. */
  readonly precision: number;
  readonly isSerial?: boolean;
}

/** @returns undefined for an invalid value */
function timeOf<T extends string | number>(
  value: unknown,
  parse: (value: T) => number | undefined,
): Time | undefined {
  if (isNothing(value)) return { at: value, precision: 1 };
  if (typeof value === 'number') {
    const at = parse(value as T);
    return at === undefined ? undefined : { at, precision: 1 };
  }
  const time = typeof value === 'string' ? readFileTime(value.trim()) : undefined;
  const at = time && parse(time.text as T);
  return at === undefined || !time ? undefined : { at, ...time };
}
