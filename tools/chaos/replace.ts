/**
 * Replaces an export of a module, or a method of a prototype, in the process that runs this.
 *
 * @param make receives the original
 */
export function replace<M extends object, K extends keyof M>(
  module: M,
  member: K,
  make: (original: M[K]) => M[K],
): void {
  module[member] = make(module[member]);
}
