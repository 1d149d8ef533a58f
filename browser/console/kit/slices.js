/** Splits long work into slices, so that the page responds to the user meanwhile. */

/** Milliseconds of one slice: less than a frame. */
const SLICE = 12;

/** A message, because the timers of a hidden tab fire once a second. */
const nextTurn = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(0);
  });

/**
 * @param {AbortSignal} [signal]
 * @returns {{ isDue: () => boolean, rest: () => Promise<void> }} `rest` throws where the work is given up
 */
export function createSlices(signal) {
  let began = performance.now();
  return {
    isDue: () => performance.now() - began > SLICE,
    rest: async () => {
      await nextTurn();
      signal?.throwIfAborted();
      began = performance.now();
    },
  };
}
