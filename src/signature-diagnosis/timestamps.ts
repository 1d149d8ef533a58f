/** Finds mistakes in the timestamp of a rejected request. */
import { TIMESTAMP, TIMESTAMP_WINDOW } from '../protocol/headers';
import { type Cause, type CauseFinding, toFinding } from './causes';

export interface TimeVariant {
  readonly cause: Cause;
  /** Detail of the mistake, shown after the explanation of `cause`. */
  readonly how: string;
  readonly time: string;
  /** True: the search combines this mistake with other mistakes. */
  readonly isCommon: boolean;
}

/** Units smaller than seconds, by the number of digits of the timestamp. */
const UNITS: Readonly<Record<number, readonly [cause: Cause, perSecond: number]>> = {
  13: ['TIMESTAMP_MILLISECONDS', 1e3],
  16: ['TIMESTAMP_UNIT', 1e6],
  19: ['TIMESTAMP_UNIT', 1e9],
};
const SIGNED_MILLISECONDS = 'the caller signed milliseconds and sent a different timestamp';
const QUARTER_HOUR = 900;
const FARTHEST_ZONE = 14 * 3_600;
/** The search tries signed timestamps up to this many seconds before and after the sent timestamp. */
const APART = 5;

/**
 * @param timestamp the header X-Timestamp; undefined if the header did not look like a time
 * @param receivedAt epoch milliseconds
 */
export function timestampFinding(
  timestamp: string | undefined,
  receivedAt: number,
): CauseFinding | undefined {
  if (timestamp === undefined) return toFinding('TIMESTAMP_NOT_SECONDS');
  const now = Math.floor(receivedAt / 1000);
  const [cause, perSecond] = UNITS[timestamp.length] ?? [];
  if (cause && perSecond && /^\d+$/.test(timestamp)) {
    const off = Math.abs(Number(timestamp) / perSecond - now);
    if (off <= FARTHEST_ZONE + TIMESTAMP_WINDOW) return toFinding(cause);
  }
  if (!TIMESTAMP.test(timestamp)) return toFinding('TIMESTAMP_NOT_SECONDS', `"${timestamp}"`);
  const off = Number(timestamp) - now;
  if (Math.abs(off) <= TIMESTAMP_WINDOW) return undefined;
  const side = `${Math.abs(off)} s ${off > 0 ? 'ahead' : 'behind'}`;
  return toFinding(isZone(off) ? 'TIME_ZONE' : 'CLOCK_OFF', side);
}

/** Whether `off` seconds are probably the offset of a time zone. */
function isZone(off: number): boolean {
  const quarters = Math.round(off / QUARTER_HOUR);
  const isOnIt = Math.abs(off - quarters * QUARTER_HOUR) <= 60;
  return isOnIt && Math.abs(off) >= 2 * QUARTER_HOUR && Math.abs(off) <= FARTHEST_ZONE + 60;
}

export function* timeVariants(timestamp: string): Generator<TimeVariant> {
  if (!/^\d{1,19}$/.test(timestamp)) return;
  const seconds = Number(timestamp.length >= 13 ? timestamp.slice(0, 10) : timestamp);
  const variant = (cause: Cause, how: string, time: string, isCommon = true) =>
    time === timestamp ? [] : [{ cause, how, time, isCommon }];
  const [causeOfUnit = 'TIMESTAMP_MILLISECONDS'] = UNITS[timestamp.length] ?? [];
  yield* variant(causeOfUnit, 'the caller signed seconds and sent a smaller unit', `${seconds}`);
  yield* variant('TIMESTAMP_MILLISECONDS', SIGNED_MILLISECONDS, `${seconds}000`);
  yield* variant('TIMESTAMP_NOT_SECONDS', 'the caller signed a fraction', `${seconds}.0`);
  for (let by = 1; by <= APART; by += 1) {
    for (const off of [-by, by]) {
      const side = `the signed timestamp is ${by} s ${off < 0 ? 'earlier' : 'later'}`;
      yield* variant('TIMESTAMP_TAKEN_TWICE', side, `${seconds + off}`, by === 1);
    }
  }
  for (let part = 1; part < 1000; part += 1) {
    const time = `${seconds}${String(part).padStart(3, '0')}`;
    yield* variant('TIMESTAMP_MILLISECONDS', SIGNED_MILLISECONDS, time, false);
  }
}
