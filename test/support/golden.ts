/**
 * Golden files: what others see of the product, as committed text under `test/golden`. A test compares
 * what it sees with its file, and writes the file anew where UPDATE_GOLDEN is 1.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(__dirname, '../golden');
const ROOT = path.resolve(__dirname, '../..');

/**
 * @param name of the file; JSON with sorted names where it ends in `.json`, otherwise lines of text
 * @throws Error that shows the difference, and says how the file is written anew
 */
export function expectGolden(name: string, seen: unknown): void {
  const text = name.endsWith('.json') ? sortedJson(seen) : linesOf(seen);
  const file = path.join(FOLDER, name);
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, text);
    return;
  }
  try {
    expect(text).toBe(readFileSync(file, 'utf8'));
  } catch (error) {
    const test = path.relative(ROOT, String(expect.getState().testPath));
    throw new Error(
      `test/golden/${name} is not what others see now. If the change is meant, write it anew with
  UPDATE_GOLDEN=1 npm test -- ${test}
and commit the difference.\n\n${(error as Error).message}`,
    );
  }
}

function linesOf(seen: unknown): string {
  return `${Array.isArray(seen) ? seen.join('\n') : String(seen)}\n`;
}

const sortedJson = (value: unknown) => `${JSON.stringify(sorted(value), null, 2)}\n`;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

/** Values that differ from run to run, by the name of their field. */
const VARYING = new Set([
  ...['requestId', 'matterId', 'timestamp', 'secretId', 'nextCursor', 'version', 'keptSince'],
  ...['lastUsedAt', 'worker'],
]);
/** Those that are null until some time after. */
const SET_LATE = new Set(['lastUsedAt']);
/** Numbers that depend on the speed of the machine. */
const MEASURED = /Ms$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
/** Longer than what the log is kept for, milliseconds. */
const RECENT = 40 * 86_400_000;

/**
 * The same without what differs from run to run: ids, measured times, and instants that are not
 * long ago.
 *
 * @param names texts that this run alone has, by what stands in their place
 */
export function normalised(value: unknown, names: Readonly<Record<string, string>> = {}): unknown {
  if (Array.isArray(value)) return value.map((one) => normalised(one, names));
  if (typeof value === 'string') return normalText(value, names);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, inner]) => {
    const isSet = inner !== null || SET_LATE.has(name);
    if (isSet && VARYING.has(name)) return [name, `<${name}>`];
    if (MEASURED.test(name) && typeof inner === 'number') return [name, '<ms>'];
    return [name, normalised(inner, names)];
  });
  return Object.fromEntries(fields);
}

function normalText(text: string, names: Readonly<Record<string, string>>): string {
  if (INSTANT.test(text) && Math.abs(Date.parse(text) - Date.now()) < RECENT) return '<recent>';
  const known = Object.entries(names).reduce((so, [own, name]) => so.replaceAll(own, name), text);
  return known
    .replace(/\b[0-9a-f]{24}\b/g, '<requestId>')
    .replace(/\bauto:[0-9a-f]{32}\b/g, 'auto:<id>');
}

/**
 * The fields of a value as sorted paths with their types, e.g. `parties[].username: string`. Elements of
 * a list are taken together: several types are joined by a bar.
 *
 * @param typeOf names the type of a leaf
 */
export function shapeOf(value: unknown, typeOf: (leaf: unknown) => string = jsonType): string[] {
  const types = new Map<string, Set<string>>();
  const note = (at: string, type: string) => {
    const known = types.get(at) ?? new Set();
    types.set(at, known.add(type));
  };
  const walk = (inner: unknown, at: string): void => {
    if (Array.isArray(inner)) {
      if (inner.length === 0) note(`${at}[]`, 'nothing');
      for (const one of inner) walk(one, `${at}[]`);
    } else if (isObject(inner)) {
      const all = Object.entries(inner);
      if (all.length === 0) note(at, 'empty object');
      for (const [name, field] of all) walk(field, joined(at, name));
    } else note(at, typeOf(inner));
  };
  walk(value, '');
  return [...types].map(([at, kinds]) => `${at}: ${[...kinds].sort().join('|')}`).sort();
}

/** A field that has a number in place of a name, as a minute has, is one of many. */
function joined(at: string, name: string): string {
  const field = /^\d+$/.test(name) ? '<n>' : name;
  return at === '' ? field : `${at}.${field}`;
}

/** The same without the types. */
export const fieldsOf = (value: unknown): string[] =>
  shapeOf(value, () => '').map((line) => line.replace(/: [^:]*$/, ''));

function jsonType(leaf: unknown): string {
  return leaf === null ? 'null' : typeof leaf;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
