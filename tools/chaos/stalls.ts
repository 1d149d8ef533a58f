/** How late the harness itself is: what it sees of the service's times holds only while it runs. */
import type { Span } from './history';

interface StallWatch {
  /** @returns the stalls so far, by the clock of the history */
  stop(): readonly Span[];
}

/** Milliseconds between two looks, and the least that counts as a stall. */
const LOOK = 50;
const LEAST = 100;

/** Watches the event loop of this process: a timer that comes late was held up by something. */
export function watchStalls(): StallWatch {
  const stalls: Span[] = [];
  let due = performance.now() + LOOK;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - due > LEAST) stalls.push({ from: due, to: now });
    due = now + LOOK;
  }, LOOK);
  return {
    stop: () => {
      clearInterval(timer);
      return stalls;
    },
  };
}
