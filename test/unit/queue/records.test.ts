/** What travels through a partition arrives as it was sent. */
import fc from 'fast-check';
import { createBodyParsers } from '../../../src/protocol/requests';
import {
  decodeItem,
  encodePush,
  itemHeader,
  ownerName,
  ownerText,
  type PushMessage,
  readOwner,
  traceIdsOf,
} from '../../../src/queue/records';
import { operations, wellFormedText } from '../../support/arbitraries';
import { aBody, CONTRACT } from '../../support/bodies';
import { aPush } from '../../support/builders';

const QUEUED_AT = 1_717_200_000_123;
const hex24 = fc.stringMatching(/^[0-9a-f]{24}$/);
const deadlines = fc.integer({ min: 0, max: 9_999_999_999_999 });
const pushes: fc.Arbitrary<PushMessage> = fc.record(
  {
    id: hex24,
    clientId: wellFormedText,
    systemCode: wellFormedText,
    externalId: wellFormedText,
    operation: operations,
    replyTo: wellFormedText,
    bodyHash: wellFormedText,
    idempotencyKey: wellFormedText,
    idempotencyFingerprint: wellFormedText,
    trace: fc.record(
      { traceparent: wellFormedText, tracestate: wellFormedText },
      { requiredKeys: ['traceparent'] },
    ),
  },
  {
    requiredKeys: [
      'id',
      'clientId',
      'systemCode',
      'externalId',
      'operation',
      'replyTo',
      'bodyHash',
    ],
  },
);
/** As Redis appends it: its deadline and its own time in front. */
const append = (deadline: number, push: PushMessage) =>
  [deadline, QUEUED_AT].map((time) => String(time).padStart(13, '0')).join('') + encodePush(push);

test('every push comes out of a partition as it went in, with its times', () => {
  fc.assert(
    fc.property(deadlines, pushes, (deadline, push) => {
      const item = append(deadline, push);
      expect(decodeItem(item)).toEqual({ ...push, deadline, queuedAt: QUEUED_AT });
    }),
  );
});

test('an item begins with the header by which a trim recognizes it', () => {
  fc.assert(
    fc.property(deadlines, pushes, (deadline, push) => {
      const item = append(deadline, push);
      expect(itemHeader(decodeItem(item))).toBe(item.slice(0, 13 + 13 + 24));
    }),
  );
});

test('one of a version without traces is read by one with them, and the other way round', () => {
  const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
  const { trace: _, ...known } = decodeItem(append(1, aPush({ trace })));
  expect(known).toEqual(decodeItem(append(1, aPush())));
  expect(decodeItem(append(1, aPush())).trace).toBeUndefined();
});

test('the traces of pushes are known by their ids, of those that have one', () => {
  const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
  expect(traceIdsOf([aPush(), aPush({ trace })])).toEqual(['a'.repeat(32)]);
});

test('what the contract accepts loses nothing on the way: absent stays absent, null stays null', () => {
  const parsers = createBodyParsers(CONTRACT);
  const sent = { summary: null, content: '请假 🚀', sourceUpdatedAt: '2024-06-01 08:00:00' };
  for (const op of ['upsert', 'status', 'reopen', 'delete'] as const) {
    const parsed = parsers[op](aBody(op, { ...sent, externalStatusCode: null }));
    const operation = parsed.data?.operation;
    if (!operation) throw new Error(`${op} was rejected`);
    const { operation: arrived } = decodeItem(append(1, aPush({ operation })));
    expect(arrived).toEqual(operation);
    expect(arrived).toMatchObject({ sourceUpdatedAt: 1_717_200_000_000 });
  }
});

const OWNER = { id: 'a1b2', sessions: ['5e55', '10ad'], name: 'worker-app1-4711' };

test('an owner is read as it was written', () => {
  expect(readOwner(ownerText(OWNER))).toEqual(OWNER);
  expect(ownerName(ownerText(OWNER))).toBe('worker-app1-4711');
});

test('its text has no blank, and begins with the id', () => {
  expect(ownerText(OWNER)).toMatch(/^a1b2:\S+$/);
});

test('what is no owner is nobody', () => {
  expect(readOwner('')).toEqual({ id: '', sessions: [], name: '' });
});
