/** How languages write a number that they have read. */

const isWhole = (text: string) => /^-?\d+$/.test(text);

/** JavaScript, and Go where it reads into `any`: everything is a double, `1.0` becomes `1`. */
export const asDouble = (text: string): string => JSON.stringify(Number(text));

/** Python: whole numbers as they are, others by `repr`. */
export function asPython(text: string): string {
  if (isWhole(text)) return text === '-0' ? '0' : text;
  const value = Number(text);
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e16 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isInteger(value) ? `${Object.is(value, -0) ? '-0' : value}.0` : String(value);
}

/** Gson, where it reads into `Object`: `1` becomes `1.0`. */
export const asJavaDouble = (text: string): string =>
  isWhole(text) && Math.abs(Number(text)) < 1e7 ? `${Number(text)}.0` : text;
