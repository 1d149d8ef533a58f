/**
 * How a mechanism is broken on purpose: a file that a process loads before its own code replaces
 * what a module of the product exports. The product itself has no switch for it.
 */

/** @param make gets the original, for what is to stay as it is */
export function replace<M extends object, K extends keyof M>(
  module: M,
  name: K,
  make: (original: M[K]) => M[K],
): void {
  module[name] = make(module[name]);
}
