/** Sets invalid fields of stored bodies before they are sent again (contract 7.5). Valid fields keep their values. */
import { TimeSlice } from '../concurrency/turns';
import { PushError } from '../protocol/errors';
import { parseJsonBody } from '../protocol/json-body';
import type { FieldValue } from '../protocol/resend';
import type { CheckBodies } from './read-batch';
import { bodiesTooLarge, checkStored, type StoredPush } from './resend-plan';
import { orRejection, type ValidPush } from './validate';

/** A stored push with its validation. */
export interface CheckedResend {
  readonly planned: { readonly kind: 'push'; readonly push: StoredPush };
  readonly checked: ValidPush | PushError;
  /** Whether a value was set: the body is no longer that of the entry. */
  readonly isChanged: boolean;
}

export interface ValuesToSet {
  readonly values: readonly FieldValue[];
  /** Bytes of all bodies together, with the values. */
  readonly maxBytes: number;
}

/** The users of a body are validated only if its fields are valid, so a second round sets their fields. */
const ROUNDS = 2;

/** @throws PushError BODY_TOO_LARGE */
export async function checkWithValues(
  checkBodies: CheckBodies,
  pushes: readonly StoredPush[],
  set: ValuesToSet,
): Promise<CheckedResend[]> {
  const checked = await checkStored(checkBodies, pushes);
  const all = pushes.map((push, index): CheckedResend => {
    const result = checked[index] ?? new PushError('INTERNAL_ERROR');
    return { planned: { kind: 'push', push }, checked: result, isChanged: false };
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    const changed = await changedPushes(all, set);
    const again = await checkStored(checkBodies, [...changed.values()]);
    for (const [place, [index, push]] of [...changed].entries()) {
      const result = again[place] ?? new PushError('INTERNAL_ERROR');
      all[index] = { planned: { kind: 'push', push }, checked: result, isChanged: true };
    }
  }
  return all;
}

/** @returns by their places, the pushes in which a value replaces an invalid field */
async function changedPushes(
  all: readonly CheckedResend[],
  { values, maxBytes }: ValuesToSet,
): Promise<Map<number, StoredPush>> {
  const changed = new Map<number, StoredPush>();
  const slice = new TimeSlice();
  let bytes = 0;
  for (const [index, { planned, checked }] of all.entries()) {
    if (slice.isOver()) await slice.next();
    const { push } = planned;
    const next = checked instanceof PushError ? withValues(push, checked, values) : undefined;
    if (next) changed.set(index, next);
    bytes += (next ?? push).body.length;
    if (bytes > maxBytes) throw bodiesTooLarge(maxBytes);
  }
  return changed;
}

/** @returns undefined if none of the values belongs to an invalid field */
function withValues(
  { entry, body }: StoredPush,
  { errors = [] }: PushError,
  values: readonly FieldValue[],
): StoredPush | undefined {
  // From the last problem to the first one: removing an element of a list moves the elements after it.
  const changes = errors.toReversed().flatMap(({ field }) => {
    const value = values.find((one) => one.field === field.replace(/\[\d+\]/g, '[]'));
    return value ? [{ place: field, value }] : [];
  });
  const object = changes.length > 0 && orRejection(() => parseJsonBody(body));
  if (!object || object instanceof PushError) return undefined;
  for (const { place, value } of changes) setPlace(object, place, value);
  return { entry, body: Buffer.from(JSON.stringify(object, keepInfinite)) };
}

/** JSON has no infinite numbers: `null` would turn an invalid 1e999 into an absent field. */
const keepInfinite = (_: string, value: unknown) =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;

type Container = Record<string | number, unknown>;

/** @param place `parties[3].username` */
function setPlace(object: object, place: string, change: FieldValue): void {
  const path = (place.match(/[^.[\]]+/g) ?? []).map((step) => (/^\d+$/.test(step) ? +step : step));
  const last = path.pop();
  let holder: unknown = object;
  for (const step of path) {
    if (!isContainer(holder) || !Object.hasOwn(holder, step)) return;
    holder = holder[step];
  }
  if (last === undefined || !isContainer(holder)) return;
  if (!change.remove) holder[last] = change.value;
  else if (Array.isArray(holder) && typeof last === 'number') holder.splice(last, 1);
  else delete holder[last];
}

const isContainer = (value: unknown): value is Container =>
  typeof value === 'object' && value !== null;
