/** Type guards for parsed JSON. The client validates answers without a library, so its package has no dependencies. */
export type Guard<T> = (value: unknown) => value is T;
/** The type that a guard confirms. */
export type Guarded<G> = G extends Guard<infer T> ? T : never;

export const anything = (_value: unknown): _value is unknown => true;
export const isString = (value: unknown): value is string => typeof value === 'string';
export const isFilled = (value: unknown): value is string => isString(value) && value !== '';
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
export const isNumber = (value: unknown): value is number => Number.isFinite(value);
export const isNull = (value: unknown): value is null => value === null;

export const optional =
  <T>(guard: Guard<T>): Guard<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || guard(value);

export const either =
  <A, B>(first: Guard<A>, second: Guard<B>): Guard<A | B> =>
  (value): value is A | B =>
    first(value) || second(value);

export const listOf =
  <T>(guard: Guard<T>): Guard<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(guard);

/** An object whose fields pass their guards. It may have other fields. */
export const objectOf =
  <Fields extends Readonly<Record<string, Guard<unknown>>>>(
    fields: Fields,
  ): Guard<{ readonly [Name in keyof Fields]: Guarded<Fields[Name]> }> =>
  (value): value is { readonly [Name in keyof Fields]: Guarded<Fields[Name]> } => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const record: Readonly<Record<string, unknown>> = { ...value };
    return Object.entries(fields).every(([name, guard]) => guard(record[name]));
  };
