/** Converts the time in a cell to a form that the service accepts. */

export interface FileTime {
  /** An ISO-8601 time, or the unchanged cell if the form of the cell is unknown. */
  readonly text: string;
  /** Milliseconds. `2026/11/25 9:20` has a precision of one minute. */
  readonly precision: number;
  /** Whether the cell was a spreadsheet serial number (days since 1899-12-30). */
  readonly isSerial: boolean;
}

const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000];
/** A date such as `2026/11/25` or `2026年11月25日`, with an optional time. */
const SHEET =
  /^(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})(?=[ T]|$)|年(\d{1,2})月(\d{1,2})日)(?:(?:T| *)(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,9})?)?)?$/;
const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/;
const DAY_NUMBER = /^(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;
const SERIAL = /^(\d{5})(?:\.(\d{1,15}))?$/;
/** Accepted serial numbers: the days from 2000-01-01 to 2099-12-31. */
const [FIRST_SERIAL, LAST_SERIAL] = [36_526, 73_050];
const SERIAL_EPOCH = Date.UTC(1899, 11, 30);

/** @returns undefined for an ambiguous cell: `20261125` can be a day or epoch seconds */
export function readFileTime(cell: string): FileTime | undefined {
  const iso = ISO.exec(cell);
  if (iso) return { text: cell, precision: iso[2] ? 1 : iso[1] ? SECOND : MINUTE, isSerial: false };
  const found = SHEET.exec(cell);
  if (found) return fromSheet(found);
  const serial = SERIAL.exec(cell);
  const days = Number(serial?.[1]);
  if (serial && days >= FIRST_SERIAL && days <= LAST_SERIAL) {
    return fromSerial(Number(cell), serial[2]?.length ?? 0);
  }
  const compact = COMPACT.exec(cell);
  if (compact) {
    const [, year, month, day, ...clock] = compact;
    return {
      text: `${year}-${month}-${day}T${clock.join(':')}`,
      precision: SECOND,
      isSerial: false,
    };
  }
  return DAY_NUMBER.test(cell) ? undefined : { text: cell, precision: 1, isSerial: false };
}

function fromSheet(found: readonly (string | undefined)[]): FileTime {
  const [, year, , month = found[5], day = found[6]] = found;
  const [hour, minute, second, fraction = ''] = found.slice(7);
  const date = `${year}-${twoDigits(month)}-${twoDigits(day)}`;
  const time = `${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(second)}${fraction}`;
  const precision = fraction !== '' ? 1 : second ? SECOND : hour ? MINUTE : DAY;
  return { text: `${date}T${time}`, precision, isSerial: false };
}

const twoDigits = (digits: string | undefined) => (digits ?? '').padStart(2, '0');

/** The result is local time, because a serial number has no time zone. */
function fromSerial(days: number, decimals: number): FileTime {
  const instant = SERIAL_EPOCH + Math.round((days * DAY) / SECOND) * SECOND;
  const text = new Date(instant).toISOString().slice(0, 19);
  return { text, precision: Math.max(DAY / 10 ** decimals, SECOND), isSerial: true };
}
