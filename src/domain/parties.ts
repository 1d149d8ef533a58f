/** Changes the party list of a matter (contract 4.7). */
import { type Matter, type Party, type PartyRef, type PartyRemoval, partyKey } from './matter';

/** Maximum number of parties of a matter (contract 4.11). */
export const MAX_PARTIES = 500;
/** Maximum number of past handlers of a matter. Above this number, the oldest past handlers are removed. */
export const MAX_PAST_HANDLERS = 1_000;

/** The parties of a matter. When an ASSIGNEE is removed from `parties`, the username is added to `pastHandlers`. */
type PartyList = Pick<Matter, 'parties' | 'pastHandlers'>;

/**
 * Changes the parties of a matter. A party that the matter had before keeps its read state, and a new party is unread.
 *
 * @param replace true: the parties of `sent` replace all parties; false: the parties of `sent` are added
 * @param names display names from the directory, by username. If a username is missing here, an old party keeps its
 *   display name, and a new party has its username as display name
 */
export function changeParties(
  before: PartyList,
  sent: readonly PartyRef[],
  replace: boolean,
  names: ReadonlyMap<string, string>,
): PartyList {
  const known = new Map(before.parties.map((party) => [partyKey(party), party]));
  const after = new Map<string, Party>(replace ? [] : known);
  for (const { username, partyRole } of sent) {
    const key = partyKey({ username, partyRole });
    const old = known.get(key);
    after.set(key, {
      username,
      partyRole,
      displayName: names.get(username) ?? old?.displayName ?? username,
      unread: old?.unread ?? true,
    });
  }
  return withParties(before, [...after.values()]);
}

/** Removes parties. The remaining parties keep their read state. A removal without a matching party is ignored. */
export function removeParties(before: PartyList, removals: readonly PartyRemoval[]): PartyList {
  const isRemoved = removalTest(removals);
  return withParties(
    before,
    before.parties.filter((party) => !isRemoved(party)),
  );
}

/** @returns a function that checks whether one of the removals names the given party */
export function removalTest(removals: readonly PartyRemoval[]): (party: PartyRef) => boolean {
  const users = new Set<string>();
  const keys = new Set<string>();
  for (const { username, partyRole } of removals) {
    if (partyRole) keys.add(partyKey({ username, partyRole }));
    else users.add(username);
  }
  return (party) => users.has(party.username) || keys.has(partyKey(party));
}

function withParties(before: PartyList, after: readonly Party[]): PartyList {
  const parties = keepIfSame(before.parties, after, isSameParty);
  const handlers = new Set(assignees(parties));
  const past = [...new Set([...before.pastHandlers, ...assignees(before.parties)])];
  const kept = past.filter((username) => !handlers.has(username)).slice(-MAX_PAST_HANDLERS);
  return { parties, pastHandlers: keepIfSame(before.pastHandlers, kept, Object.is) };
}

/** Whether the matter is an open TODO without an ASSIGNEE. Such a matter is in the to-do list of no user. */
export function isUnseen({ matterType, phase, parties }: Matter): boolean {
  if (matterType !== 'TODO' || phase !== 'OPEN') return false;
  return !parties.some(({ partyRole }) => partyRole === 'ASSIGNEE');
}

/** Marks the matter as unread for its ASSIGNEEs (`resetAssigneeUnread` of contract 4.2 and 4.3). */
export function resetAssigneeUnread(parties: readonly Party[]): readonly Party[] {
  const after = parties.map((party) =>
    party.partyRole === 'ASSIGNEE' && !party.unread ? { ...party, unread: true } : party,
  );
  return keepIfSame(parties, after, isSameParty);
}

/** Returns the old list if the new list is equal, so that unchanged fields are not written. */
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
