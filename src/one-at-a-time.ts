/** Pieces of work that must not overlap: each begins when the one before it has ended, however. */
export interface OneAtATime {
  <T>(work: () => Promise<T>): Promise<T>;
  /** Nothing is under way or waits. */
  isFree(): boolean;
}

export function oneAtATime(): OneAtATime {
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
