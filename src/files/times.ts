/** Times as spreadsheets write them, brought into the form that the service reads. Pure; served to the console too. */

/** A time of a file: how the service reads it, and how much it leaves open. */
export interface FileTime {
  /** ISO-8601, local unless the text has an offset, or digits. */
  readonly text: string;
  /** Milliseconds: `2026/11/25 9:20` may be any instant of that minute. */
  readonly step: number;
  /** The text was the number of a day, as a spreadsheet counts them. */
  readonly isSerial: boolean;
}

const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000];
/** Year first, with one kind of separator. One T or blanks stand before the time, behind 日 also nothing; 24:00 is left to the reader of ISO-8601. */
const SHEET =
  /^(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})(?=[ T]|$)|年(\d{1,2})月(\d{1,2})日)(?:(?:T| *)(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,9})?)?)?$/;
const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/;
const DAY_NUMBER = /^(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;
/** Days since the end of 1899: from 2000 to 2099. */
const SERIAL = /^(\d{5})(?:\.(\d{1,15}))?$/;
const [FIRST_SERIAL, LAST_SERIAL] = [36_526, 73_050];
const SERIAL_EPOCH = Date.UTC(1899, 11, 30);

/**
 * Only the form is brought into another one: whether there is such a day is for the reader of ISO-8601 to say.
 *
 * @param cell of a file, without blanks around it
 * @returns undefined for a day without separators: nobody would mean that number of seconds
 */
export function readFileTime(cell: string): FileTime | undefined {
  const iso = ISO.exec(cell);
  if (iso) return { text: cell, step: iso[2] ? 1 : iso[1] ? SECOND : MINUTE, isSerial: false };
  const found = SHEET.exec(cell);
  if (found) return fromSheet(found);
  const serial = SERIAL.exec(cell);
  const days = Number(serial?.[1]);
  if (serial && days >= FIRST_SERIAL && days < LAST_SERIAL) {
    return fromSerial(Number(cell), serial[2]?.length ?? 0);
  }
  const compact = COMPACT.exec(cell);
  if (compact) {
    const [, year, month, day, ...clock] = compact;
    return { text: `${year}-${month}-${day}T${clock.join(':')}`, step: SECOND, isSerial: false };
  }
  // A day as a number, which would be read as seconds of 1970.
  return DAY_NUMBER.test(cell) ? undefined : { text: cell, step: 1, isSerial: false };
}

function fromSheet(found: readonly (string | undefined)[]): FileTime {
  const [, year, , month = found[5], day = found[6]] = found;
  const [hour, minute, second, fraction = ''] = found.slice(7);
  const date = `${year}-${twoDigits(month)}-${twoDigits(day)}`;
  const time = `${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(second)}${fraction}`;
  const step = fraction !== '' ? 1 : second ? SECOND : hour ? MINUTE : DAY;
  return { text: `${date}T${time}`, step, isSerial: false };
}

const twoDigits = (digits: string | undefined) => (digits ?? '').padStart(2, '0');

/** A serial number has no zone: its day and its time are those of the clock on the wall. */
function fromSerial(days: number, decimals: number): FileTime {
  const instant = SERIAL_EPOCH + Math.round((days * DAY) / SECOND) * SECOND;
  const text = new Date(instant).toISOString().slice(0, 19);
  return { text, step: Math.max(DAY / 10 ** decimals, SECOND), isSerial: true };
}
