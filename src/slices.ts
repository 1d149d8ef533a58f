/**
 * Reads a long, ordered range piece by piece: slices of time that widen while they hold little and
 * narrow where they hold much. Each command of the database then reads a bounded part of an index,
 * also on servers that look at all of a range before they sort it and cut it off.
 */

export interface SliceItems<T> {
  readonly items: readonly T[];
  /** Not all that is there was read. */
  readonly isCut: boolean;
}

/** A range whose places are ids or instants, in time order. `[lower, upper)`; undefined: no bound. */
export interface SlicedRange<T, P extends string | number> {
  readonly direction: 'older' | 'newer';
  /** Where reading begins: the upper end when going to the older, the lower one to the newer. */
  readonly start: P;
  /** What lies before the start (ids of a clock that is ahead) belongs to the first slice. */
  readonly startsOpen?: boolean;
  /** Where it ends; undefined: when there is nothing more. */
  readonly end: P | undefined;
  /** Reads in the order of the direction, at most `most` items. */
  readonly read: (
    lower: P | undefined,
    upper: P | undefined,
    most: number,
  ) => Promise<SliceItems<T>>;
  /** Where reading goes on after an item. */
  readonly placeAfter: (item: T) => P;
  /** Items that a slice should hold, and the most that it may: 500 and 5,000. */
  readonly target?: number;
  readonly most?: number;
  /** A place some milliseconds later, or earlier. */
  readonly shift: (place: P, by: number) => P;
}

const FIRST_WIDTH = 1_000;
const FACTOR = 4;
/** A slice this wide is the last one of a range without end: nothing is kept for longer. */
const LAST_WIDTH = 4_000 * 86_400_000;

/** Gives the items slice by slice, in order. What is not taken is not read. */
export async function* readSlices<T, P extends string | number>(
  range: SlicedRange<T, P>,
): AsyncGenerator<readonly T[]> {
  const { direction, start, end, read, placeAfter, shift, target = 500, most = 5_000 } = range;
  const isOlder = direction === 'older';
  let edge = start;
  let width = FIRST_WIDTH;
  let isOpen = range.startsOpen ?? false;
  for (;;) {
    const far = shift(edge, isOlder ? -width : width);
    const isPast = end !== undefined && (isOlder ? far <= end : far >= end);
    const isLast = isPast || width > LAST_WIDTH;
    const limit = isLast ? end : far;
    const from = isOpen ? undefined : edge;
    const { items, isCut } = isOlder
      ? await read(limit, from, most)
      : await read(from, limit, most);
    isOpen = false;
    yield items;
    const last = items.at(-1);
    const goesOn = isCut && last !== undefined;
    if (isLast && !goesOn) return;
    edge = goesOn ? placeAfter(last) : far;
    if (isCut || items.length > target * FACTOR) width = Math.max(1, Math.floor(width / FACTOR));
    else if (items.length < target) width *= FACTOR;
  }
}
