/** What a generator of steps returns in the end. */
export function resultOf<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}
