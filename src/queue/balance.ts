/**
 * How live workers share the partitions that have traffic. Each decides for itself, by what all of them
 * said last: nobody leads, and nobody has to know who takes what another one leaves. Pure.
 */

export interface Share {
  /** Partitions to let go of now. */
  readonly letGo: number;
  /** Partitions that may be held until the next look; undefined: any number, as nobody has too few. */
  readonly most: number | undefined;
}

const EVEN: Share = { letGo: 0, most: undefined };
/** Partitions, and part of a fair share, by which a worker may have too few before others give. */
const TOLERANCE = 1;
const TOLERATED_PART = 0.1;

/**
 * @param own name of the worker that asks, one of `held`
 * @param held by worker that is alive, how many partitions it holds
 */
export function shareOf(own: string, held: ReadonlyMap<string, number>): Share {
  const ranks = [...held].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const total = ranks.reduce((sum, [, partitions]) => sum + partitions, 0);
  const floor = Math.floor(total / ranks.length);
  const fewest = ranks.at(-1)?.[1] ?? 0;
  const tolerated = Math.max(TOLERANCE, Math.floor(floor * TOLERATED_PART));
  const rank = ranks.findIndex(([name]) => name === own);
  if (rank === -1 || floor - fewest < tolerated) return EVEN;
  // Whoever has most keeps what cannot be divided.
  const fair = floor + (rank < total % ranks.length ? 1 : 0);
  const letGo = Math.max(0, (held.get(own) ?? 0) - fair);
  // Room for one more only where there are too few: what is given must not go to who has its share.
  return { letGo, most: (held.get(own) ?? 0) < fair ? fair + 1 : fair };
}

/**
 * The same over the looks of one worker. What the others said is up to one look old, and what was given a
 * moment ago is nobody's yet: so nothing is given at the first look that finds the workers uneven, nor
 * at the one after a gift. Without that each change moves twice as many partitions as it has to.
 *
 * @param own name of the worker that looks
 * @returns to be asked once for each look
 */
export function createSharer(own: string): (held: ReadonlyMap<string, number>) => Share {
  let mayGive = false;
  return (held) => {
    const { letGo, most } = shareOf(own, held);
    const gives = mayGive ? letGo : 0;
    mayGive = most !== undefined && gives === 0;
    return { letGo: gives, most };
  };
}
