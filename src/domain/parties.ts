/** How a push changes the party list of a matter. Specification 2.2, 4.1 rule 2; decisions, "parties". */
import type { Matter, Party, PartyRef } from './matter';

/** Most parties a matter may have (decisions, "Lengths"). */
export const MAX_PARTIES = 500;
/** How many past handlers are remembered; beyond it the oldest are forgotten. */
export const MAX_PAST_HANDLERS = 1_000;

type PartyList = Pick<Matter, 'parties' | 'pastHandlers'>;

const keyOf = (party: PartyRef) => `${party.partyRole} ${party.username}`;

/**
 * Merges or replaces parties. A remaining party keeps its read state; a new party starts unread; a user
 * who is no longer ASSIGNEE is remembered in `pastHandlers`.
 *
 * @param names display names resolved from the directory; a party without one keeps its old name
 */
export function changeParties(
  before: PartyList,
  sent: readonly PartyRef[],
  replace: boolean,
  names: ReadonlyMap<string, string>,
): PartyList {
  const known = new Map(before.parties.map((party) => [keyOf(party), party]));
  const after = new Map<string, Party>(replace ? [] : known);
  for (const { username, partyRole } of sent) {
    const key = keyOf({ username, partyRole });
    const old = known.get(key);
    after.set(key, {
      username,
      partyRole,
      displayName: names.get(username) ?? old?.displayName ?? username,
      unread: old?.unread ?? true,
    });
  }
  const parties = keepIfSame(before.parties, [...after.values()], isSameParty);
  const handlers = new Set(assignees(parties));
  const past = [...new Set([...before.pastHandlers, ...assignees(before.parties)])];
  const kept = past.filter((username) => !handlers.has(username)).slice(-MAX_PAST_HANDLERS);
  return { parties, pastHandlers: keepIfSame(before.pastHandlers, kept, Object.is) };
}

/** Whether it is a to-do that waits for somebody, and nobody has it in a list. */
export function isUnseen({ matterType, phase, parties }: Matter): boolean {
  if (matterType !== 'TODO' || phase !== 'OPEN') return false;
  return !parties.some(({ partyRole }) => partyRole === 'ASSIGNEE');
}

/** Marks the matter unread for its handlers (resetAssigneeUnread of 4.2 and 4.3). */
export function resetAssigneeUnread(parties: readonly Party[]): readonly Party[] {
  const after = parties.map((party) =>
    party.partyRole === 'ASSIGNEE' && !party.unread ? { ...party, unread: true } : party,
  );
  return keepIfSame(parties, after, isSameParty);
}

/** Keeps the list that was there where the new one says the same: unchanged fields are not written. */
function keepIfSame<T>(
  before: readonly T[],
  after: readonly T[],
  isSame: (a: T, b: T) => boolean,
): readonly T[] {
  const unchanged =
    before.length === after.length &&
    after.every((item, index) => isSame(item, before[index] as T));
  return unchanged ? before : after;
}

function isSameParty(a: Party, b: Party): boolean {
  return (
    a.username === b.username &&
    a.partyRole === b.partyRole &&
    a.displayName === b.displayName &&
    a.unread === b.unread
  );
}

function assignees(parties: readonly Party[]): string[] {
  return parties.filter((party) => party.partyRole === 'ASSIGNEE').map((party) => party.username);
}
