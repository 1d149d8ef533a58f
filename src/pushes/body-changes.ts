/**
 * Sets and removes fields of a parsed body. One new value can be set in many fields and make the JSON very large.
 * Therefore the size is checked before the final JSON is created.
 */
import { PushError, problem } from '../protocol/errors';
import type { JsonObject } from '../protocol/json-body';
import type { FieldValue } from '../protocol/resend';
import { TEXTS } from '../protocol/texts';

/** A value for a field, or the removal of the field. */
export class BodyChange {
  /** The invalid value to change; undefined: every invalid value of the field. */
  readonly from: FieldValue['from'];
  readonly isRemoval: boolean;
  readonly value: unknown;
  /** Bytes of the value in JSON. */
  readonly bytes: number;

  constructor({ from, value, remove }: FieldValue) {
    this.from = from;
    this.isRemoval = remove === true;
    this.value = value;
    this.bytes = this.isRemoval ? 0 : Buffer.byteLength(JSON.stringify(value, keepInfinite));
  }
}

export interface PlacedChange {
  /** Such as `parties[3].username`. */
  readonly place: string;
  readonly change: BodyChange;
}

const NULL_BYTES = 'null'.length;

/** Modifies `body`. @throws PushError BODY_TOO_LARGE if the changed body exceeds `maxBytes` */
export function changedBody(
  body: JsonObject,
  changes: readonly PlacedChange[],
  maxBytes: number,
): Buffer {
  const shortened = new Set<unknown[]>();
  for (const { place, change } of changes) setPlace(body, place, change, shortened);
  for (const list of shortened) list.splice(0, list.length, ...list.filter((it) => it !== REMOVED));
  let valueBytes = 0;
  const withoutValues = JSON.stringify(body, (key, value) => {
    if (!(value instanceof BodyChange)) return keepInfinite(key, value);
    valueBytes += value.bytes - NULL_BYTES;
    return null;
  });
  if (Buffer.byteLength(withoutValues) + valueBytes > maxBytes) {
    throw new PushError('BODY_TOO_LARGE', {
      errors: [problem('set', TEXTS.largeValues(maxBytes))],
    });
  }
  const placedValue = (value: unknown) => (value instanceof BodyChange ? value.value : value);
  return Buffer.from(JSON.stringify(body, (key, value) => keepInfinite(key, placedValue(value))));
}

/**
 * Replaces an infinite number such as 1e999 by a string. `JSON.stringify` would write `null`, and the validation
 * treats `null` as an absent field.
 */
const keepInfinite = (_: string, value: unknown) =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;

/** Replaces a removed list element until all changes are made. The other elements keep their indexes until then. */
const REMOVED = Symbol('removed');

type Container = Record<string | number, unknown>;

/** Stores `change` instead of `change.value`, because later changes must not modify the value. */
function setPlace(
  body: object,
  place: string,
  change: BodyChange,
  shortened: Set<unknown[]>,
): void {
  const path = stepsOf(place);
  const last = path.pop();
  const container = valueIn(body, path);
  if (last === undefined || !isContainer(container)) return;
  if (Array.isArray(container) !== (typeof last === 'number')) return;
  if (Array.isArray(container)) {
    // A change must not make a list longer.
    if (!Object.hasOwn(container, last)) return;
    container[last as number] = change.isRemoval ? REMOVED : change;
    if (change.isRemoval) shortened.add(container);
  } else if (change.isRemoval) delete container[last];
  else container[last] = change;
}

export const valueAt = (body: JsonObject, place: string): unknown => valueIn(body, stepsOf(place));

function valueIn(body: object, path: readonly (string | number)[]): unknown {
  let value: unknown = body;
  for (const step of path) {
    if (!isContainer(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

const stepsOf = (place: string): (string | number)[] =>
  (place.match(/\[\d+\]|[^.[\]]+/g) ?? []).map((step) =>
    step.startsWith('[') ? Number(step.slice(1, -1)) : step,
  );

const isContainer = (value: unknown): value is Container =>
  typeof value === 'object' && value !== null && !(value instanceof BodyChange);
