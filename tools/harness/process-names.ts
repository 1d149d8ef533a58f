/** @returns the names of some processes of a type: `web-0`, `web-1` */
export function namesOf(type: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${type}-${n}`);
}
