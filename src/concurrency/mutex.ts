/** Runs pieces of work one after the other: each begins when the one before it succeeded or failed. */
export interface Mutex {
  <T>(work: () => Promise<T>): Promise<T>;
  /** Nothing is under way or waits. */
  isFree(): boolean;
}

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  let unfinished = 0;
  const run = <T>(work: () => Promise<T>): Promise<T> => {
    unfinished += 1;
    const result = last.then(work).finally(() => {
      unfinished -= 1;
    });
    last = result.catch(() => undefined);
    return result;
  };
  return Object.assign(run, { isFree: () => unfinished === 0 });
}
