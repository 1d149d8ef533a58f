/** The check of many bodies: in slices, so that other requests have their turn, with their users looked up together. */
import { TimeSlice } from '../concurrency/time-slice';
import { MAX_PROBLEMS, PushError } from '../protocol/errors';
import type { JsonObject } from '../protocol/json-body';
import {
  type CheckBody,
  type CheckedBody,
  checkUsers,
  findUnknown,
  orRejection,
  type ParsedPush,
  parseBody,
  type UnknownUsers,
  type ValidatorDependencies,
} from './validate-push';

/** Bodies, each with what is known of its request; the users of all of them are looked up together. */
export type CheckBodies = (
  bodies: readonly (readonly [JsonObject, Parameters<CheckBody>[1]])[],
) => Promise<(CheckedBody | PushError)[]>;

/** Of all bodies that are checked together; beyond it each has MAX_PROBLEMS. */
const MAX_USER_PROBLEMS = 10_000;

/**
 * @returns (the built function) each body as `createCheckBody`, or the PushError that it is rejected with, of
 *   which it has MAX_PROBLEMS at most: a small batch may have a million. Unknown users are named all, up to
 *   MAX_USER_PROBLEMS in all bodies together
 */
export function createCheckBodies(deps: ValidatorDependencies): CheckBodies {
  return async (bodies) => {
    const parsed: (ParsedPush | PushError)[] = [];
    const slice = new TimeSlice();
    for (const [body, requestContext] of bodies) {
      if (slice.isOver()) await slice.next();
      parsed.push(orRejection(() => parseBody(deps, body, requestContext, MAX_PROBLEMS)));
    }
    const unknown = await unknownUsersOf(deps, parsed, slice);
    let left = MAX_USER_PROBLEMS;
    const found: (CheckedBody | PushError)[] = [];
    for (const one of parsed) {
      if (slice.isOver()) await slice.next();
      const most = Math.max(MAX_PROBLEMS, left);
      const checked =
        one instanceof PushError ? one : orRejection(() => checkUsers(one, unknown, most));
      if (checked !== one && checked instanceof PushError) left -= checked.errors?.length ?? 0;
      found.push(checked);
    }
    return found;
  };
}

/** Names that are looked up at a time: a batch of 8 MiB may have hundreds of thousands. */
const MOST_NAMES = 2_000;

/** Those of all bodies that are not known, looked up together. */
async function unknownUsersOf(
  deps: ValidatorDependencies,
  bodies: readonly (ParsedPush | PushError)[],
  slice: TimeSlice,
): Promise<UnknownUsers> {
  const usernames = new Set<string>();
  for (const one of bodies) {
    if (slice.isOver()) await slice.next();
    if (!(one instanceof PushError)) for (const name of one.usernames) usernames.add(name);
  }
  const all = [...usernames];
  const unknown = new Map<string, string | undefined>();
  for (let at = 0; at < all.length; at += MOST_NAMES) {
    if (slice.isOver()) await slice.next();
    const found = await findUnknown(deps, all.slice(at, at + MOST_NAMES));
    for (const [name, similar] of found) unknown.set(name, similar);
  }
  return unknown;
}
