/** How a push changes the party list (contract 4.7). */
import fc from 'fast-check';
import type { Party, PartyRef } from '../../../src/domain/matter';
import {
  changeParties,
  MAX_PAST_HANDLERS,
  removeParties,
  resetAssigneeUnread,
} from '../../../src/domain/parties';
import { partyRefs, partyRemovals } from '../../support/arbitraries';
import { aParty, aRef } from '../../support/builders';

const NO_NAMES = new Map<string, string>();
/** Names and roles cannot run into each other here, whatever the code uses as its key. */
const id = ({ username, partyRole }: PartyRef) => JSON.stringify([username, partyRole]);
const ids = (parties: readonly PartyRef[]) => new Set(parties.map(id));

const lists: fc.Arbitrary<Party[]> = fc
  .tuple(partyRefs, fc.infiniteStream(fc.boolean()))
  .map(([refs, flags]) => {
    const distinct = new Map(refs.map((ref) => [id(ref), ref]));
    return [...distinct.values()].map((ref) =>
      aParty(ref.username, ref.partyRole, flags.next().value),
    );
  });
const before = fc.record({ parties: lists, pastHandlers: fc.constant<string[]>([]) });

test('replacing makes the list exactly what was sent, each once', () => {
  fc.assert(
    fc.property(before, partyRefs, (list, sent) => {
      const { parties } = changeParties(list, sent, true, NO_NAMES);
      expect(ids(parties)).toEqual(ids(sent));
      expect(parties).toHaveLength(ids(sent).size);
    }),
  );
});

test('merging loses nobody and adds everybody sent, each once', () => {
  fc.assert(
    fc.property(before, partyRefs, (list, sent) => {
      const { parties } = changeParties(list, sent, false, NO_NAMES);
      expect(ids(parties)).toEqual(new Set([...ids(list.parties), ...ids(sent)]));
      expect(parties).toHaveLength(ids(parties).size);
    }),
  );
});

test('who stays keeps the read state, who is new starts unread', () => {
  fc.assert(
    fc.property(before, partyRefs, fc.boolean(), (list, sent, replace) => {
      const was = new Map(list.parties.map((party) => [id(party), party.unread]));
      for (const party of changeParties(list, sent, replace, NO_NAMES).parties) {
        expect(party.unread).toBe(was.get(id(party)) ?? true);
      }
    }),
  );
});

test('removing takes exactly the parties that it names: in one role, or in all', () => {
  fc.assert(
    fc.property(before, partyRemovals, (list, removals) => {
      const isNamed = ({ username, partyRole }: PartyRef) =>
        removals.some(
          (it) => it.username === username && [undefined, partyRole].includes(it.partyRole),
        );
      const { parties } = removeParties(list, removals);
      // Who stays is the same as before: read state, display name and place.
      expect(parties).toEqual(list.parties.filter((party) => !isNamed(party)));
    }),
  );
});

test('removals in any order, or again, leave the same parties and past handlers', () => {
  fc.assert(
    fc.property(before, partyRemovals, partyRemovals, (list, one, other) => {
      const after = removeParties(removeParties(list, one), other);
      const turned = removeParties(removeParties(list, other), one);
      expect(turned.parties).toEqual(after.parties);
      expect(new Set(turned.pastHandlers)).toEqual(new Set(after.pastHandlers));
      const again = removeParties(after, one);
      expect(again.parties).toBe(after.parties);
      expect(again.pastHandlers).toBe(after.pastHandlers);
    }),
  );
});

test('past handlers are those who were ASSIGNEE and are not any more', () => {
  fc.assert(
    fc.property(
      before,
      fc.array(fc.tuple(partyRefs, fc.boolean(), partyRemovals)),
      (list, changes) => {
        let now: { parties: readonly Party[]; pastHandlers: readonly string[] } = list;
        const ever = new Set<string>();
        const handlers = () =>
          now.parties.filter((p) => p.partyRole === 'ASSIGNEE').map((p) => p.username);
        for (const name of handlers()) ever.add(name);
        for (const [sent, replace, removals] of changes) {
          now = changeParties(now, sent, replace, NO_NAMES);
          for (const name of handlers()) ever.add(name);
          now = removeParties(now, removals);
        }
        const current = new Set(handlers());
        expect(new Set(now.pastHandlers)).toEqual(
          new Set([...ever].filter((n) => !current.has(n))),
        );
        expect(now.pastHandlers).toHaveLength(new Set(now.pastHandlers).size);
      },
    ),
  );
});

test('an empty replacement clears the list, an empty merge changes nothing', () => {
  const list = { parties: [aParty('li', 'ASSIGNEE')], pastHandlers: [] };
  expect(changeParties(list, [], true, NO_NAMES)).toEqual({ parties: [], pastHandlers: ['li'] });
  expect(changeParties(list, [], false, NO_NAMES)).toEqual(list);
});

test('the same person in two roles is two parties', () => {
  const list = { parties: [aParty('li', 'ASSIGNEE')], pastHandlers: [] };
  const { parties } = changeParties(list, [aRef('li', 'CC')], false, NO_NAMES);
  expect(parties.map((p) => [p.partyRole, p.unread])).toEqual([
    ['ASSIGNEE', false],
    ['CC', true],
  ]);
});

test.each([
  ['the directory has it', new Map([['li', 'Li Si']]), 'Li Si'],
  ['the directory lost it, the old one stays', NO_NAMES, 'name of li'],
])('display name: %s', (_, names, displayName) => {
  const list = { parties: [aParty('li', 'CC')], pastHandlers: [] };
  const { parties } = changeParties(list, [aRef('li', 'CC')], false, names);
  expect(parties).toEqual([{ ...aParty('li', 'CC'), displayName }]);
});

test('of too many past handlers the oldest are forgotten', () => {
  const pastHandlers = Array.from({ length: MAX_PAST_HANDLERS }, (_, n) => `old${n}`);
  const list = { parties: [aParty('li', 'ASSIGNEE')], pastHandlers };
  const after = changeParties(list, [], true, NO_NAMES).pastHandlers;
  expect(after).toHaveLength(MAX_PAST_HANDLERS);
  expect([after[0], after.at(-1)]).toEqual(['old1', 'li']);
});

test('a reset makes handlers unread and nobody else', () => {
  const parties = [aParty('li', 'ASSIGNEE'), aParty('li', 'CC'), aParty('sun', 'RECIPIENT')];
  expect(resetAssigneeUnread(parties).map((p) => p.unread)).toEqual([true, false, false]);
});
