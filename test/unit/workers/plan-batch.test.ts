/** A turn's plan: what is written and what each caller is told, from what was read. */
import type { PriorResult } from '../../../src/domain/fold';
import { groupOf, type Matter } from '../../../src/domain/matter';
import type { Operation } from '../../../src/domain/operation';
import type { WaitingPush } from '../../../src/queue/records';
import { groupPushes, type Loaded, planBatch } from '../../../workers/plan-batch';
import {
  aDelete,
  aMatter,
  anUpsert,
  aParty,
  aPush,
  aRef,
  aReopen,
  aStatus,
  NOW,
} from '../../support/builders';

const push = (id: string, over: Partial<WaitingPush> = {}): WaitingPush => ({
  ...aPush(over),
  deadline: NOW + 1,
  queuedAt: NOW - 5,
  id,
});

interface Known {
  readonly matters?: readonly Matter[];
  readonly names?: ReadonlyMap<string, string>;
  readonly priorResults?: ReadonlyMap<string, PriorResult>;
  /** By idempotency key, the body that it was first used with. */
  readonly firstBodies?: ReadonlyMap<string, string>;
}

function plan(pushes: readonly WaitingPush[], known: Known = {}) {
  let id = 100n;
  const loaded: Loaded = {
    matters: new Map(
      (known.matters ?? []).map((m) => [groupOf(m.systemCode, m.externalId), m] as const),
    ),
    names: known.names ?? new Map(),
    priorResults: known.priorResults ?? new Map(),
    keyUses: {
      firstBody: ({ idempotencyKey }) => known.firstBodies?.get(idempotencyKey ?? ''),
      effectOf: () => undefined,
      attempt: () => undefined,
    },
  };
  const newMatterId = () => {
    id += 1n;
    return id;
  };
  const concluded = new Set(['DONE']);
  return planBatch(groupPushes(pushes), loaded, { now: NOW, newMatterId, concluded });
}

test('pushes are grouped by their matter, in the order in which they came', () => {
  const keys = [
    ['OA', 'A-1'],
    ['OA', 'A-2'],
    ['HR', 'A-1'],
    ['OA', 'A-1'],
  ];
  const pushes = keys.map(([systemCode, externalId], n) =>
    push(`p${n}`, { systemCode: systemCode ?? '', externalId: externalId ?? '' }),
  );
  const groups = groupPushes(pushes);
  expect(groups.map((g) => [g.systemCode, g.externalId, ...g.pushes.map((p) => p.id)])).toEqual([
    ['OA', 'A-1', 'p0', 'p3'],
    ['OA', 'A-2', 'p1'],
    ['HR', 'A-1', 'p2'],
  ]);
});

test('many pushes of one matter are one write, and each has its own outcome', () => {
  const { changes, settled } = plan([
    push('p1', { operation: anUpsert({ title: 'one' }) }),
    push('p2', { operation: aStatus({ bizStatus: 'DONE' }) }),
    push('p3', { operation: aDelete() }),
    push('p4', { operation: aStatus() }),
  ]);
  expect(changes).toHaveLength(1);
  expect(changes[0]?.before).toBeUndefined();
  expect(changes[0]?.after).toMatchObject({ matterId: 101n, bizStatus: 'DONE', revision: 3 });
  const queuedAt = NOW - 5;
  expect(settled).toEqual([
    {
      id: 'p1',
      queuedAt,
      revision: 1,
      changes: [
        { field: 'bizStatus', to: 'PENDING' },
        { field: 'matterType', to: 'TODO' },
        { field: 'title' },
      ],
      settlement: { state: 'PERSISTED', outcome: 'CREATED', matterId: '101', unseen: true },
    },
    {
      id: 'p2',
      queuedAt,
      revision: 2,
      changes: [{ field: 'bizStatus', from: 'PENDING', to: 'DONE' }],
      settlement: { state: 'PERSISTED', outcome: 'UPDATED', matterId: '101' },
    },
    {
      id: 'p3',
      queuedAt,
      revision: 3,
      changes: [{ field: 'deleted', from: false, to: true }],
      settlement: { state: 'PERSISTED', outcome: 'DELETED', matterId: '101' },
    },
    { id: 'p4', queuedAt, settlement: { state: 'REFUSED', reason: 'MATTER_DELETED' } },
  ]);
});

test('a write names the matter that was read, so that the commit can guard its revision', () => {
  const before = aMatter({ revision: 5 });
  const { changes } = plan([push('p1')], { matters: [before] });
  expect(changes).toHaveLength(1);
  expect(changes[0]?.before).toBe(before);
  expect(changes[0]?.after).toMatchObject({ matterId: 7n, revision: 6 });
});

test('what changes nothing writes nothing, and is answered all the same', () => {
  const matter = aMatter({ sourceUpdatedAt: 2000 });
  const gone = aMatter({ externalId: 'A-2', deleted: true, phase: 'DELETED' });
  const { changes, settled } = plan(
    [
      push('p1', { operation: anUpsert({ sourceUpdatedAt: 1000 }) }),
      push('p2', { operation: aDelete(), externalId: 'A-2' }),
      push('p3', { operation: aDelete(), externalId: 'A-3' }),
    ],
    { matters: [matter, gone] },
  );
  expect(changes).toEqual([]);
  expect(settled.map(({ settlement }) => settlement)).toEqual([
    { state: 'PERSISTED', outcome: 'STALE_IGNORED', matterId: '7' },
    { state: 'PERSISTED', outcome: 'ALREADY_DELETED', matterId: '7' },
    { state: 'REFUSED', reason: 'MATTER_NOT_FOUND' },
  ]);
});

describe('a push after which nobody sees the to-do says so', () => {
  const li = aParty('li', 'ASSIGNEE');
  const unseen = aMatter({ parties: [aParty('cc', 'CC')] });
  test.each<[string, Operation, Matter | undefined, boolean]>([
    ['created without an ASSIGNEE', anUpsert({ parties: [aRef('cc', 'CC')] }), undefined, true],
    ['created with one', anUpsert({ parties: [aRef('li')] }), undefined, false],
    ['merged with one that is there', anUpsert(), aMatter({ parties: [li] }), false],
    [
      'whose only one is replaced',
      anUpsert({ parties: [aRef('cc', 'CC')], replaceParties: true }),
      aMatter({ parties: [li] }),
      true,
    ],
    ['a status of one that is open', aStatus({ bizStatus: 'PROCESSING' }), unseen, true],
    ['concluded', aStatus({ bizStatus: 'DONE' }), unseen, false],
    ['reopened', aReopen(), aMatter({ bizStatus: 'DONE', phase: 'CONCLUDED' }), true],
    ['deleted', aDelete(), unseen, false],
    ['a draft', anUpsert({ bizStatus: 'DRAFT' }), undefined, false],
    ['a notice', anUpsert({ matterType: 'NOTICE' }), undefined, false],
    ['stale', anUpsert({ sourceUpdatedAt: 1 }), aMatter({ sourceUpdatedAt: 2 }), false],
  ])('%s', (_name, operation, matter, expected) => {
    const known = { matters: matter ? [matter] : [] };
    const [only] = plan([push('p1', { operation })], known).settled;
    expect(only?.settlement.state).toBe('PERSISTED');
    expect(only?.settlement).toMatchObject(expected ? { unseen: true } : {});
    expect(Object.hasOwn(only?.settlement ?? {}, 'unseen')).toBe(expected);
  });
});

test('a push that changed the matter tells the revision it made; a stale or repeated one made none', () => {
  const priorResult = { pushId: 'first', outcome: 'CREATED', matterId: 7n } as const;
  const { settled } = plan(
    [
      push('p1'),
      push('p2', { operation: anUpsert({ sourceUpdatedAt: 1000 }) }),
      push('p3', { idempotencyFingerprint: 'k' }),
      push('p4'),
      push('p5', { operation: anUpsert({ title: 'another' }) }),
    ],
    { matters: [aMatter({ sourceUpdatedAt: 2000 })], priorResults: new Map([['k', priorResult]]) },
  );
  expect(settled.map(({ revision }) => revision)).toEqual([6, undefined, undefined, undefined, 7]);
});

test('two matters created in one batch have two ids', () => {
  const { changes } = plan([push('p1'), push('p2', { systemCode: 'HR' })]);
  const made = changes.map(({ after }) => [after.systemCode, after.externalId, after.matterId]);
  expect(made).toEqual([
    ['OA', 'A-1', 101n],
    ['HR', 'A-1', 102n],
  ]);
});

test('an id beyond the safe integers is told digit by digit', () => {
  const matterId = 2n ** 62n + 1n;
  const { settled } = plan([push('p1')], { matters: [aMatter({ matterId })] });
  expect(settled[0]?.settlement).toMatchObject({ matterId: '4611686018427387905' });
});

test('a retry of an earlier push is answered with its outcome and not applied', () => {
  const priorResult = { pushId: 'first', outcome: 'CREATED', matterId: 7n } as const;
  const { changes, settled } = plan([push('p1', { idempotencyFingerprint: 'k' })], {
    matters: [aMatter()],
    priorResults: new Map([['k', priorResult]]),
  });
  expect(changes).toEqual([]);
  expect(settled).toEqual([
    {
      id: 'p1',
      queuedAt: NOW - 5,
      settlement: {
        state: 'REPLAYED',
        outcome: 'CREATED',
        matterId: '7',
        duplicateOf: 'first',
        unseen: true,
      },
    },
  ]);
});

test('a stale push says which instant lost against which', () => {
  const operation = aStatus({ bizStatus: 'DONE', sourceUpdatedAt: NOW - 9 });
  const { settled } = plan([push('p1', { operation })], {
    matters: [aMatter({ sourceUpdatedAt: NOW })],
  });
  expect(settled[0]).toMatchObject({
    settlement: { outcome: 'STALE_IGNORED' },
    stale: { sent: NOW - 9, stored: NOW },
  });
  expect(settled[0]).not.toHaveProperty('changes');
});

test('a key that comes with another body is marked, and the push applied', () => {
  const known = { matters: [aMatter()], firstBodies: new Map([['key', 'first body']]) };
  const { changes, settled } = plan(
    [
      push('p1', {
        idempotencyKey: 'key',
        bodyHash: 'other body',
        operation: anUpsert({ title: 'of p1' }),
      }),
      push('p2', { idempotencyKey: 'key', bodyHash: 'first body', operation: aStatus() }),
      push('p3', { idempotencyKey: 'unknown', bodyHash: 'x', operation: aStatus() }),
      push('p4', { bodyHash: 'x', operation: aStatus() }),
    ],
    known,
  );
  expect(settled.map(({ mark }) => mark)).toEqual(['KEY_REUSED', undefined, undefined, undefined]);
  expect(changes[0]?.after.revision).toBe(6);
});

test('display names are those of the directory when the push is applied', () => {
  const operation = anUpsert({ parties: [aRef('li'), aRef('sun', 'CC')] });
  const { changes } = plan([push('p1', { operation })], {
    matters: [aMatter({ parties: [aParty('li', 'ASSIGNEE')] })],
    names: new Map([['li', 'Li Si (new)']]),
  });
  const names = changes[0]?.after.parties.map(({ displayName }) => displayName);
  expect(names).toEqual(['Li Si (new)', 'sun']);
});
