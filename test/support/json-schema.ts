/**
 * As much of JSON Schema 2020-12 as the OpenAPI document and Kubernetes' API use, written for the tests
 * alone: what a caller's own tools would say of a value. A keyword that it does not know is an error.
 */
import { isDeepStrictEqual } from 'node:util';

export type Schema = Readonly<Record<string, unknown>>;

export interface Options {
  /** What references are looked up in. */
  readonly document: unknown;
  /** Fields that the schema does not name are a problem too. */
  readonly closed?: boolean;
}

interface At extends Options {
  readonly schema: Schema;
  readonly path: string;
}

/** @returns a line for each problem: where it is, and the keyword that is not met */
export function problemsOf(schema: Schema, value: unknown, options: Options): string[] {
  return check(value, { ...options, schema, path: '$' });
}

/** @throws Error where there is nothing */
export function resolve(document: unknown, ref: string): Schema {
  const steps = ref.replace(/^#\//, '').split('/');
  const found = steps.reduce<unknown>(
    (node, step) =>
      (node as Schema | undefined)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
  if (typeof found !== 'object' || found === null) throw new Error(`nothing at ${ref}`);
  return found as Schema;
}

function check(value: unknown, at: At): string[] {
  return Object.entries(at.schema).flatMap(([keyword, operand]) => {
    const rule = RULES[keyword];
    if (!rule) throw new Error(`${at.path}: no rule for ${keyword}`);
    const told = rule(operand as never, value, at);
    return typeof told === 'boolean' ? (told ? [] : [`${at.path}: ${keyword}`]) : told;
  });
}

type Rule = (operand: never, value: unknown, at: At) => boolean | string[];

const says = () => true;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const under = (at: At, schema: Schema, step = ''): At => ({ ...at, schema, path: at.path + step });
/** A schema beside the one that names the fields: it names only some of them. */
const aside = (at: At, schema: Schema): At => ({ ...under(at, schema), closed: false });
const holds = (value: unknown, at: At) => check(value, at).length === 0;
const ofText = (test: (value: string) => boolean) => (value: unknown) =>
  typeof value !== 'string' || test(value);
const ofNumber = (test: (value: number) => boolean) => (value: unknown) =>
  typeof value !== 'number' || test(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  array: (value) => Array.isArray(value),
  object: isObject,
};

const FORMATS: Readonly<Record<string, RegExp>> = {
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/,
};

const RULES: Readonly<Record<string, Rule>> = {
  description: says,
  default: says,
  contentMediaType: says,
  contentSchema: says,
  $ref: (ref: string, value, at) => check(value, under(at, resolve(at.document, ref))),
  type: (types: string | string[], value) => [types].flat().some((it) => TYPES[it]?.(value)),
  const: (wanted: unknown, value) => isDeepStrictEqual(wanted, value),
  enum: (wanted: unknown[], value) => wanted.some((it) => isDeepStrictEqual(it, value)),
  format: (name: string, value) => ofText((it) => FORMATS[name]?.test(it) ?? false)(value),
  pattern: (source: string, value) => ofText((it) => new RegExp(source, 'u').test(it))(value),
  // Characters, not UTF-16 units.
  minLength: (least: number, value) => ofText((it) => [...it].length >= least)(value),
  maxLength: (most: number, value) => ofText((it) => [...it].length <= most)(value),
  minimum: (least: number, value) => ofNumber((it) => it >= least)(value),
  maximum: (most: number, value) => ofNumber((it) => it <= most)(value),
  minItems: (least: number, value) => !Array.isArray(value) || value.length >= least,
  maxItems: (most: number, value) => !Array.isArray(value) || value.length <= most,
  items: (each: Schema, value, at) =>
    !Array.isArray(value) || value.flatMap((it, n) => check(it, under(at, each, `[${n}]`))),
  required: (names: string[], value) =>
    !isObject(value) || names.every((name) => Object.hasOwn(value, name)),
  properties: (named: Record<string, Schema>, value, at) =>
    !isObject(value) ||
    Object.entries(value).flatMap(([name, it]) => {
      const schema = Object.hasOwn(named, name) ? named[name] : undefined;
      if (schema) return check(it, under(at, schema, `.${name}`));
      return at.closed ? [`${at.path}.${name}: is not named`] : [];
    }),
  additionalProperties: (rest: Schema | boolean, value, at) => {
    if (!isObject(value)) return true;
    const named = (at.schema.properties ?? {}) as Record<string, Schema>;
    const others = Object.entries(value).filter(([name]) => !Object.hasOwn(named, name));
    return others.flatMap(([name, it]) => {
      if (typeof rest !== 'boolean') return check(it, under(at, rest, `.${name}`));
      return rest ? [] : [`${at.path}.${name}: is not named`];
    });
  },
  anyOf: (options: Schema[], value, at) => options.some((it) => holds(value, under(at, it))),
  oneOf: (options: Schema[], value, at) =>
    options.filter((it) => holds(value, under(at, it))).length === 1,
  allOf: (all: Schema[], value, at) => all.flatMap((it) => check(value, aside(at, it))),
  not: (schema: Schema, value, at) => !holds(value, aside(at, schema)),
  if: (schema: Schema, value, at) =>
    !holds(value, aside(at, schema)) || check(value, aside(at, at.schema.then as Schema)),
  // biome-ignore lint/suspicious/noThenProperty: it is the keyword of JSON Schema
  then: says,
};
