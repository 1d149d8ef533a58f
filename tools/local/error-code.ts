/** Whether an error has this code: a text of Node, such as EADDRINUSE, or a number of MongoDB. */
export function hasCode(error: unknown, code: string | number): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
