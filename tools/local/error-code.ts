/** Whether an error of Node's carries a code such as EADDRINUSE. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
