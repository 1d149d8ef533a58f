/** A full upsert: whatever the ledger holds, after it the ledger has the same matter again. */
import fc from 'fast-check';
import { decide } from '../../../src/domain/decide';
import { contentDifferences, toFullUpsert } from '../../../src/domain/full-upsert';
import { type Matter, phaseOf, priorityRank } from '../../../src/domain/matter';
import { createBodyParsers } from '../../../src/protocol/requests';
import { formatLocal } from '../../../src/protocol/time';
import { compareWithLedger } from '../../../src/queries/compare';
import { partyRefs, wellFormedText } from '../../support/arbitraries';
import { aMatter, aParty, decisionContext, NOW } from '../../support/builders';

const SHANGHAI = 'Asia/Shanghai';
const local = (instant: number) => formatLocal(instant, SHANGHAI);
const parsers = createBodyParsers({ timeZone: SHANGHAI, clock: () => NOW });

const FULL: Partial<Matter> = {
  title: '报销单 😀',
  summary: 's',
  content: 'c',
  pcUrl: 'https://oa.example.com/1',
  mobileUrl: 'oa://1',
  bizType: 'LEAVE',
  priority: 'HIGH',
  deadlineAt: Date.UTC(2026, 0, 31, 10),
  initiatorExtId: 'i',
  initiatorUsername: 'alice',
  externalStatusCode: 'X1',
  externalStatusLabel: '审批中',
  payloadJson: '{"a":1}',
  bizStatus: 'PROCESSING',
  sourceUpdatedAt: NOW,
  parties: [aParty('alice', 'ASSIGNEE'), aParty('alice', 'CC', true)],
};

test('a full matter is said in the fields of an upsert', () => {
  expect(toFullUpsert(aMatter(FULL), local)).toEqual({
    matterType: 'TODO',
    externalId: 'A-1',
    title: '报销单 😀',
    summary: 's',
    content: 'c',
    pcUrl: 'https://oa.example.com/1',
    mobileUrl: 'oa://1',
    bizType: 'LEAVE',
    priority: 'HIGH',
    deadlineAt: '2026-01-31T18:00:00',
    initiatorExtId: 'i',
    initiatorUsername: 'alice',
    externalStatusCode: 'X1',
    externalStatusLabel: '审批中',
    payloadJson: '{"a":1}',
    bizStatus: 'PROCESSING',
    sourceUpdatedAt: '2024-06-01T00:00:00.000Z',
    replaceParties: true,
    parties: [
      { username: 'alice', partyRole: 'ASSIGNEE' },
      { username: 'alice', partyRole: 'CC' },
    ],
  });
});

test('what is empty is cleared, and without a watermark no time is sent', () => {
  const said = toFullUpsert(aMatter(), local);
  expect(said).toMatchObject({ summary: null, deadlineAt: null, payloadJson: null, parties: [] });
  expect(said).not.toHaveProperty('sourceUpdatedAt');
});

test('every field of a full matter tells when it differs', () => {
  const full = aMatter(FULL);
  expect(contentDifferences(full, { ...full })).toEqual([]);
  expect(contentDifferences(full, aMatter({ matterType: 'NOTICE' }))).toEqual([
    'matterType',
    'title',
    'summary',
    'content',
    'pcUrl',
    'mobileUrl',
    'bizType',
    'priority',
    'deadlineAt',
    'initiatorExtId',
    'initiatorUsername',
    'externalStatusLabel',
    'payloadJson',
    'parties',
  ]);
});

test.each<[string, Matter['parties'], boolean]>([
  ['another order', [aParty('b', 'CC'), aParty('a', 'ASSIGNEE')], false],
  ['other read states and names', [aParty('a', 'ASSIGNEE', true), aParty('b', 'CC', true)], false],
  ['another role', [aParty('a', 'ASSIGNEE'), aParty('b', 'RECIPIENT')], true],
  ['one less', [aParty('a', 'ASSIGNEE')], true],
  ['one more', [aParty('a', 'ASSIGNEE'), aParty('b', 'CC'), aParty('c', 'CC')], true],
])('parties with %s', (_, parties, differs) => {
  const matter = aMatter({ parties: [aParty('a', 'ASSIGNEE'), aParty('b', 'CC')] });
  expect(contentDifferences(matter, { ...matter, parties })).toEqual(differs ? ['parties'] : []);
});

test('a document that lacks a field counts as one in which it is empty', () => {
  const { summary: _, ...byHand } = aMatter();
  expect(contentDifferences(aMatter(), byHand as Matter)).toEqual([]);
});

test.each([
  ['phase', { phase: 'CONCLUDED' as const }],
  ['priorityRank', { priorityRank: 3 }],
])('%s that was changed by hand is found', (field, change) => {
  const matter = aMatter();
  expect(contentDifferences(matter, { ...matter, ...change })).toEqual([field]);
});

describe('property', () => {
  const text = fc.option(wellFormedText);
  const matters = fc
    .record({
      matterType: fc.constantFrom('TODO' as const, 'NOTICE' as const),
      title: wellFormedText,
      summary: text,
      content: text,
      priority: text,
      externalStatusCode: text,
      externalStatusLabel: text,
      deadlineAt: fc.option(fc.nat(4_000_000).map((minutes) => minutes * 60_000)),
      bizStatus: fc.constantFrom('DRAFT', 'PENDING', 'DONE'),
      parties: partyRefs.map((refs) => refs.map((ref) => aParty(ref.username, ref.partyRole))),
      sourceUpdatedAt: fc.option(fc.integer({ min: 1, max: 4 })),
      deleted: fc.boolean(),
    })
    .map((fields) => derived(aMatter({ ...fields, parties: onlyOnce(fields.parties) })));

  test('pushed to anything that is not newer, it leaves the same matter', () => {
    fc.assert(
      fc.property(matters, fc.option(matters, { nil: undefined }), (matter, held) => {
        const alive = derived({ ...matter, deleted: false });
        const parsed = parsers.upsert(toFullUpsert(alive, local));
        // Texts that the contract rejects cannot have come into a matter.
        fc.pre(parsed.success);
        const decision = decide(held, parsed.data.operation, decisionContext());
        if (decision.kind !== 'accepted') throw new Error(decision.reason);
        const isOlder = (held?.sourceUpdatedAt ?? 0) > (matter.sourceUpdatedAt ?? 9);
        expect(decision.outcome === 'STALE_IGNORED').toBe(isOlder);
        if (isOlder) return;
        expect(contentDifferences(alive, decision.matter)).toEqual([]);
        expect(
          compareWithLedger({ ...alive, sourceUpdatedAt: undefined }, decision.matter),
        ).toEqual([]);
      }),
    );
  });
});

/** As the service keeps it. */
const derived = (matter: Matter): Matter => ({
  ...matter,
  phase: phaseOf(matter.bizStatus, matter.deleted, decisionContext().concluded),
  priorityRank: priorityRank(matter.priority),
});

const onlyOnce = (parties: Matter['parties']) => [
  ...new Map(parties.map((party) => [`${party.partyRole} ${party.username}`, party])).values(),
];
