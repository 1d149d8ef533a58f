/**
 * Sets and removes fields of a parsed body. A value that is set at many places can make the body too large. So the size
 * of the changed body is computed before the changed body is written as JSON.
 */
import { PushError, problem } from '../protocol/errors';
import type { JsonObject } from '../protocol/json-body';
import type { FieldValue } from '../protocol/resend';
import { TEXTS } from '../protocol/texts';

/** A value for a field, or the removal of the field. */
export class BodyChange {
  /** The invalid value that the change replaces; undefined: every invalid value of the field. */
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

/** A change at a place of a body. A place is for example `parties[3].username`. */
export interface PlacedChange {
  readonly place: string;
  readonly change: BodyChange;
}

const NULL_BYTES = 'null'.length;

/**
 * Makes the changes in a body.
 *
 * @param body this object is modified
 * @param changes a change in a missing object, or of a missing list element, is ignored. A missing field of an existing
 *   object is added
 * @returns the changed body as JSON
 * @throws PushError BODY_TOO_LARGE naming `set`, if the changed body would have more than `maxBytes` bytes
 */
export function changedBody(
  body: JsonObject,
  changes: readonly PlacedChange[],
  maxBytes: number,
): Buffer {
  const shortened = new Set<unknown[]>();
  for (const { place, change } of changes) setPlace(body, place, change, shortened);
  for (const list of shortened) list.splice(0, list.length, ...list.filter((it) => it !== REMOVED));
  let valueBytes = 0;
  // To compute the size, `null` is written for each new value, and the bytes of the value are added.
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
 * Keeps an infinite number as text. JSON.stringify would write `null`, which many fields accept. So the invalid number
 * 1e999 could become a valid value.
 */
const keepInfinite = (_: string, value: unknown) =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;

/** Stands for a removed list element until all changes are made, so that the other elements keep their indexes. */
const REMOVED = Symbol('removed');

type Container = Record<string | number, unknown>;

/**
 * Puts the `BodyChange` object at the place, instead of the new value. So no other change can modify the new value,
 * which many bodies share.
 */
function setPlace(
  body: object,
  place: string,
  change: BodyChange,
  shortened: Set<unknown[]>,
): void {
  const path = stepsOf(place);
  const last = path.pop();
  const holder = valueIn(body, path);
  if (last === undefined || !isContainer(holder)) return;
  if (Array.isArray(holder) !== (typeof last === 'number')) return;
  if (Array.isArray(holder)) {
    // A list never becomes longer.
    if (!Object.hasOwn(holder, last)) return;
    holder[last as number] = change.isRemoval ? REMOVED : change;
    if (change.isRemoval) shortened.add(holder);
  } else if (change.isRemoval) delete holder[last];
  else holder[last] = change;
}

/** @param place such as `parties[3].username` @returns undefined if the body does not have the place */
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
