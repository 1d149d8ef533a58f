/** Validates stored bodies before a resend. On request, changes invalid fields (contract 7.5). */
import { TimeSlice } from '../concurrency/turns';
import { MAX_PROBLEMS, PushError } from '../protocol/errors';
import { type JsonObject, parseJsonBody } from '../protocol/json-body';
import type { FieldValue } from '../protocol/resend';
import { positionOf } from '../storage/push-log';
import { BodyChange, changedBody, type PlacedChange, valueAt } from './body-changes';
import { assignId } from './idempotency';
import type { CheckBodies } from './read-batch';
import { bodiesTooLarge, type StoredPush } from './resend-plan';
import { resultOrPushError, type ValidPush } from './validate';

export interface CheckedResend {
  readonly planned: { readonly kind: 'push'; readonly push: StoredPush };
  readonly checked: ValidPush | PushError;
}

export interface ValuesToSet {
  readonly values: readonly FieldValue[];
  /** Maximum bytes of one body, including the new values. */
  readonly maxBodyBytes: number;
  /** Maximum bytes of all bodies together, including the new values. */
  readonly maxBytes: number;
}

/** Each round sets values and validates the changed bodies. */
const MAX_ROUNDS = 30;
const PROBLEMS_PER_ROUND = 500;

/** Changes only invalid fields. @throws PushError BODY_TOO_LARGE */
export async function checkWithValues(
  checkBodies: CheckBodies,
  pushes: readonly StoredPush[],
  { values, maxBodyBytes, maxBytes }: ValuesToSet,
): Promise<CheckedResend[]> {
  const changes = new Map<string, BodyChange[]>();
  for (const value of values) {
    changes.set(value.field, [...(changes.get(value.field) ?? []), new BodyChange(value)]);
  }
  const maxProblems = changes.size > 0 ? PROBLEMS_PER_ROUND : MAX_PROBLEMS;
  const check = async (chunk: readonly StoredPush[]): Promise<CheckedResend[]> => {
    const results = await checkStored(checkBodies, chunk, maxProblems);
    return chunk.map((push, index) => {
      const checked = results[index] ?? new PushError('INTERNAL_ERROR');
      return { planned: { kind: 'push', push }, checked };
    });
  };
  const all = await check(pushes);
  const slice = new TimeSlice();
  let bytes = pushes.reduce((sum, { body }) => sum + body.length, 0);
  let candidates = [...all.keys()];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const changed = new Map<number, StoredPush>();
    for (const index of candidates) {
      if (slice.isOver()) await slice.next();
      const before = all[index];
      const push = before && withChanges(before, changes, maxBodyBytes);
      if (!push) continue;
      changed.set(index, push);
      bytes += push.body.length - before.planned.push.body.length;
      if (bytes > maxBytes) throw bodiesTooLarge(maxBytes);
    }
    if (changed.size === 0) break;
    candidates = [...changed.keys()];
    for (const [at, rechecked] of (await check([...changed.values()])).entries()) {
      all[candidates[at] as number] = rechecked;
    }
  }
  return all.map(({ planned, checked }) => ({ planned, checked: withFewProblems(checked) }));
}

function withChanges(
  { planned: { push }, checked }: CheckedResend,
  changes: ReadonlyMap<string, readonly BodyChange[]>,
  maxBodyBytes: number,
): StoredPush | undefined {
  if (!(checked instanceof PushError)) return undefined;
  const fields = (checked.errors ?? []).flatMap(({ field: place }) => {
    const ofField = changes.get(place.replace(/\[\d+\]/g, '[]'));
    return ofField ? [{ place, ofField }] : [];
  });
  const object = fields.length > 0 && resultOrPushError(() => parseJsonBody(push.body));
  if (!object || object instanceof PushError) return undefined;
  const placed = fields.flatMap(({ place, ofField }): PlacedChange[] => {
    const change = changeFor(valueAt(object, place), ofField);
    return change ? [{ place, change }] : [];
  });
  if (placed.length === 0) return undefined;
  const body = changedBody(object, placed, maxBodyBytes);
  return body.equals(push.body) ? undefined : { ...push, body, digest: undefined };
}

const changeFor = (value: unknown, changes: readonly BodyChange[]) =>
  changes.find(({ from }) => from !== undefined && from === value) ??
  changes.find(({ from }) => from === undefined);

/** `checkBodies` has already limited the problems of an UNKNOWN_USER error. */
function withFewProblems(checked: ValidPush | PushError): ValidPush | PushError {
  if (!(checked instanceof PushError) || checked.reason === 'UNKNOWN_USER') return checked;
  const { reason, errors = [], warnings } = checked;
  if (errors.length <= MAX_PROBLEMS) return checked;
  return new PushError(reason, { errors: errors.slice(0, MAX_PROBLEMS), warnings });
}

/** Validates logged pushes by the current rules. */
export async function checkStored(
  checkBodies: CheckBodies,
  pushes: readonly StoredPush[],
  maxProblems?: number,
): Promise<(ValidPush | PushError)[]> {
  const parsed: (JsonObject | PushError)[] = [];
  const slice = new TimeSlice();
  for (const { body } of pushes) {
    if (slice.isOver()) await slice.next();
    parsed.push(resultOrPushError(() => parseJsonBody(body)));
  }
  const objects = parsed.flatMap((body, index): [JsonObject, StoredPush][] => {
    const push = pushes[index];
    return push && !(body instanceof PushError) ? [[body, push]] : [];
  });
  const checked = await checkBodies(
    objects.map(([body, { entry }]) => [body, { operation: entry.operation, headerErrors: [] }]),
    maxProblems,
  );
  const results = checked.values();
  return pushes.map(({ entry, body, firstBody }, index) => {
    const failure = parsed[index];
    if (failure instanceof PushError) return failure;
    const { value: result } = results.next();
    if (!result || result instanceof PushError) return result ?? new PushError('INTERNAL_ERROR');
    const { clientId } = entry;
    const idempotencyKey = firstBody && entry.idempotencyKey;
    // `positionOf` replaces the signature of the push, because the log does not store valid signatures.
    const source = { clientId, idempotencyKey, signature: positionOf(entry) };
    const externalId = entry.externalId ?? result.externalId ?? assignId(source, firstBody ?? body);
    return { operation: result.operation, warnings: result.warnings, externalId };
  });
}
