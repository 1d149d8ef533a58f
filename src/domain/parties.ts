/** Changes the party list of a matter (contract 4.7). */
import { type Matter, type Party, type PartyRef, type PartyRemoval, partyKey } from './matter';

/** Maximum parties of a matter (contract 4.11). */
export const MAX_PARTIES = 500;
/** Maximum past handlers of a matter. */
export const MAX_PAST_HANDLERS = 1_000;

type PartyList = Pick<Matter, 'parties' | 'pastHandlers'>;

/** @param replace true: removes the parties that are not in `sent`; false: they stay */
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

export function removeParties(before: PartyList, removals: readonly PartyRemoval[]): PartyList {
  const isRemoved = removalTest(removals);
  return withParties(
    before,
    before.parties.filter((party) => !isRemoved(party)),
  );
}

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

/** An open TODO without an ASSIGNEE is in no user's to-do list. */
export function isUnseen({ matterType, phase, parties }: Matter): boolean {
  if (matterType !== 'TODO' || phase !== 'OPEN') return false;
  return !parties.some(({ partyRole }) => partyRole === 'ASSIGNEE');
}

/** Marks the matter as unread for its ASSIGNEEs (contract 4.2 and 4.3). */
export function resetAssigneeUnread(parties: readonly Party[]): readonly Party[] {
  const after = parties.map((party) =>
    party.partyRole === 'ASSIGNEE' && !party.unread ? { ...party, unread: true } : party,
  );
  return keepIfSame(parties, after, isSameParty);
}

/** Keeps the object of an unchanged list, because `applyChanges` (decide.ts) compares fields by identity. */
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
