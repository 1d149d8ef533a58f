/** A monotonic clock that stands still, for what is not about time. */

/** Nothing that reads the monotonic clock runs out of its time meanwhile, on however slow a machine. */
export async function whileClockStands<T>(run: () => Promise<T>): Promise<T> {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  return run().finally(() => clock.mockRestore());
}
