/** Whether an error carries a code, such as EADDRINUSE of Node's or a number of MongoDB's. */
export function hasCode(error: unknown, code: string | number): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
