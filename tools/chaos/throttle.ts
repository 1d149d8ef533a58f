/** A bound on bytes per second that many connections share. */

export interface Throttle {
  /** Bytes per second; undefined: no bound. */
  setRate(bytesPerSecond: number | undefined): void;
  /** Cuts a chunk so finely that one connection does not keep the others waiting. */
  pieces(chunk: Buffer): Buffer[];
  /**
   * Takes the bytes' share of time, behind everything that was taken before.
   *
   * @returns milliseconds until they may go
   */
  take(bytes: number): number;
}

/** Milliseconds of the whole rate that one piece may take. */
const PIECE = 20;

export function createThrottle(now: () => number): Throttle {
  let rate: number | undefined;
  let freeAt = 0;
  return {
    setRate: (bytesPerSecond) => {
      rate = bytesPerSecond;
      freeAt = 0;
    },
    pieces: (chunk) => {
      if (rate === undefined) return [chunk];
      const size = Math.max(1, Math.round((rate * PIECE) / 1_000));
      const count = Math.ceil(chunk.length / size);
      return Array.from({ length: count }, (_, n) => chunk.subarray(n * size, (n + 1) * size));
    },
    take: (bytes) => {
      if (rate === undefined) return 0;
      const start = Math.max(now(), freeAt);
      freeAt = start + (bytes / rate) * 1_000;
      return freeAt - now();
    },
  };
}
