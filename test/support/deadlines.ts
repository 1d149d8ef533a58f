/** Deadlines that end when a test says so, where what they are about takes real time: a request to a server. */

/**
 * @param timeout milliseconds, so long that it never ends by itself, and that no other timer has
 * @returns ends every deadline of that timeout that has begun since
 */
export function holdDeadlines(timeout: number): () => void {
  const { setTimeout: start } = globalThis;
  const begun: (() => void)[] = [];
  const held = (end: (...args: unknown[]) => void, delay?: number, ...args: unknown[]) => {
    if (delay === timeout) begun.push(() => end(...args));
    return start(end, delay, ...args);
  };
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(held as typeof start);
  return () => {
    for (const end of begun.splice(0)) end();
  };
}
