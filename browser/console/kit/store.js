/**
 * Uses a store of the browser. The browser may forbid its stores, or have no room in them: the page then forgets the
 * value when it closes.
 *
 * @template T
 * @param {() => Storage} open
 * @param {(store: Storage) => T} use
 * @returns {T | undefined}
 */
export function inStore(open, use) {
  try {
    return use(open());
  } catch {
    return undefined;
  }
}
