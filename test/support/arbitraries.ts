/** Anything that may happen to a matter, for the properties. */
import fc from 'fast-check';
import type { PartyRef, PartyRemoval } from '../../src/domain/matter';
import type { Operation } from '../../src/domain/operation';

/** Unpaired surrogates never pass the contract. */
export const wellFormedText = fc.string({ unit: 'binary', maxLength: 12 });

const username = fc.constantFrom('li', 'wang', 'zhao', 'qian', 'sun', 'CC li');
const partyRole = fc.constantFrom('ASSIGNEE', 'CC', 'RECIPIENT');

export const partyRefs: fc.Arbitrary<PartyRef[]> = fc.array(fc.record({ username, partyRole }), {
  maxLength: 8,
});

/** Of one role, or of all. */
export const partyRemovals: fc.Arbitrary<PartyRemoval[]> = fc.array(
  fc.record({ username, partyRole }, { requiredKeys: ['username'] }),
  { maxLength: 4 },
);

const sourceUpdatedAt = fc.integer({ min: 1, max: 6 });
const bizStatus = fc.constantFrom('DRAFT', 'PENDING', 'DONE', 'ODD_ONE');
const nullableText = fc.option(wellFormedText);

const statusChange = {
  bizStatus,
  sourceUpdatedAt,
  externalStatusCode: nullableText,
  externalStatusLabel: nullableText,
};

/** Few times, statuses and names, so that stale, equal and repeated ones are common. */
export const operations: fc.Arbitrary<Operation> = fc.oneof(
  fc.record(
    {
      op: fc.constant('upsert' as const),
      matterType: fc.constantFrom('TODO', 'NOTICE'),
      title: wellFormedText,
      content: fc.record(
        { summary: nullableText, priority: nullableText, deadlineAt: fc.option(fc.nat()) },
        { requiredKeys: [] },
      ),
      replaceParties: fc.boolean(),
      assignedId: fc.boolean(),
      parties: partyRefs,
      removeParties: partyRemovals,
      bizStatus,
      sourceUpdatedAt,
    },
    {
      requiredKeys: ['op', 'matterType', 'title', 'content', 'replaceParties', 'assignedId'],
    },
  ),
  fc.record(
    {
      op: fc.constant('status' as const),
      resetAssigneeUnread: fc.boolean(),
      removeParties: partyRemovals,
      ...statusChange,
    },
    { requiredKeys: ['op', 'resetAssigneeUnread'] },
  ),
  fc.record(
    { op: fc.constant('reopen' as const), resetAssigneeUnread: fc.boolean(), ...statusChange },
    { requiredKeys: ['op', 'resetAssigneeUnread'] },
  ),
  fc.record({ op: fc.constant('delete' as const), sourceUpdatedAt }, { requiredKeys: ['op'] }),
);
