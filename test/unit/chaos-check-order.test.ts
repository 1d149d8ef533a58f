/** The checker of chaos runs: the order of effects, and what pushes without an effect were told. */
import { check } from '../../chaos/check/check';
import type { Evidence } from '../../chaos/check/evidence';
import type { Matter } from '../../src/domain/matter';
import type { OperationName } from '../../src/domain/operation';
import type { Body } from '../support/bodies';
import {
  aRun,
  brokenRules,
  type Sent,
  withAnswer,
  withEntry,
  withMatters,
} from '../support/chaos-evidence';

/** A status that stands in no other operation, so that it cannot be without an effect. */
const label = (externalStatusLabel: string) => ({ externalStatusLabel });
const at = (from: number, to: number) => ({ at: [from, to] as const });

/** Gives two effects each other's revision. */
function swapped(evidence: Evidence, a: Sent, b: Sent): Evidence {
  const revision = ({ requestId }: Sent) =>
    evidence.entries.find(({ _id }) => String(_id) === requestId)?.revision;
  return withEntry(withEntry(evidence, a, { revision: revision(b) }), b, { revision: revision(a) });
}

function threeEffects() {
  const run = aRun();
  const first = run.push('upsert');
  const second = run.push('status', label('two'));
  const third = run.push('status', label('three'));
  return { run, first, second, third };
}

describe('revisions', () => {
  test.each([
    ['missing', { revision: 4 }],
    ['twice', { revision: 2 }],
  ])('an effect that is %s is found', (_what, change) => {
    const { run, third } = threeEffects();
    expect(check(withEntry(run.evidence(), third, change))).toMatchObject([
      { rule: 'revisions', requestId: third.requestId, externalId: 'A-1' },
    ]);
  });

  test('those of two matters do not meet', () => {
    const { run } = threeEffects();
    run.push('upsert', { externalId: 'A-2' });
    expect(check(run.evidence())).toEqual([]);
  });
});

describe('the fold', () => {
  const fields: Partial<Matter>[] = [
    { title: 'another' },
    { bizStatus: 'DONE' },
    { phase: 'CONCLUDED' },
    { externalStatusLabel: 'two' },
    { priorityRank: 3 },
    { revision: 4 },
    { sourceUpdatedAt: 5 },
    { deletedAt: 7 },
    { parties: [{ username: 'li', partyRole: 'CC', displayName: 'Li Lei', unread: true }] },
    { pastHandlers: ['li'] },
    { payloadJson: '{}' },
  ];
  test.each(fields)('a stored matter with %p is found', (change) => {
    const { run } = threeEffects();
    expect(brokenRules(withMatters(run.evidence(), () => change))).toEqual(['fold']);
  });

  test('times of the ledger are its own', () => {
    const { run } = threeEffects();
    run.push('delete');
    const evidence = withMatters(run.evidence(), () => ({
      createdAt: 1,
      updatedAt: 2,
      deletedAt: 3,
    }));
    expect(check(evidence)).toEqual([]);
    expect(brokenRules(withMatters(evidence, () => ({ deletedAt: null })))).toEqual(['fold']);
  });

  test('a second unread reset and a lost one are seen in the parties', () => {
    const run = aRun();
    run.push('upsert', { parties: [{ username: 'li', partyRole: 'ASSIGNEE' }] });
    const read = withMatters(run.evidence(), ({ parties }) => ({
      parties: parties.map((party) => ({ ...party, unread: false })),
    }));
    expect(brokenRules(read)).toEqual(['fold']);
  });

  test('an effect with another outcome than it had is found, though caller and log agree', () => {
    const { run, second } = threeEffects();
    const evidence = withEntry(run.evidence(), second, { result: 'REVIVED' });
    expect(brokenRules(withAnswer(evidence, second, { outcome: 'REVIVED' }))).toEqual(['fold']);
  });

  test('an effect of what changes nothing, or is refused, is found', () => {
    const run = aRun();
    run.push('upsert');
    const idle = run.push('status');
    expect(brokenRules(withEntry(run.evidence(), idle, { revision: 2 }))).toEqual(['fold']);
    const early = run.push('status', { externalId: 'A-2' });
    const applied = { state: 'PERSISTED', result: 'UPDATED', matterId: 2n, revision: 1 } as const;
    expect(brokenRules(withEntry(run.evidence(), early, applied))).toContain('fold');
  });

  test('an effect under another id than its body names is found', () => {
    const run = aRun();
    run.push('upsert');
    const strayed = run.push('upsert', { title: 'for the first' });
    const moved = { externalId: 'A-2', revision: 1, result: 'CREATED', matterId: 2n };
    const told = { externalId: 'A-2', outcome: 'CREATED', matterId: '2' };
    const evidence = withAnswer(withEntry(run.evidence(), strayed, moved), strayed, told);
    const found = check(evidence).find(({ requestId }) => requestId === strayed.requestId);
    expect(found).toMatchObject({ rule: 'fold', externalId: 'A-2' });
  });

  test('an effect of a body that the contract refuses is found', () => {
    const run = aRun();
    const invalid = run.push('upsert', { title: '' });
    const applied = { state: 'PERSISTED', result: 'CREATED', matterId: 1n, revision: 1 } as const;
    expect(brokenRules(withEntry(run.evidence(), invalid, applied))).toContain('fold');
  });

  test('a matter that is gone from the ledger is found', () => {
    expect(brokenRules(threeEffects().run.evidence({ matters: [] }))).toEqual(['fold']);
  });
});

describe('real time', () => {
  const spread = (second: readonly [number, number], third: readonly [number, number]) => {
    const run = aRun();
    run.push('upsert', {}, at(0, 5));
    run.push('upsert', { title: 'second' }, { at: second });
    run.push('upsert', { title: 'third' }, { at: third });
    return run;
  };

  test('an effect before that of a push that was answered before it was sent is found', () => {
    const run = spread([60, 70], [20, 59]);
    expect(check(run.evidence())).toMatchObject([{ rule: 'real-time', externalId: 'A-1' }]);
  });

  test.each([
    ['they overlap', [50, 70], [20, 59]],
    ['one was sent in the moment in which the other was answered', [59, 70], [20, 59]],
  ] as const)('either order is right where %s', (_why, second, third) => {
    expect(check(spread(second, third).evidence())).toEqual([]);
  });

  test('revisions that are swapped are found', () => {
    const { run, second, third } = threeEffects();
    expect(brokenRules(swapped(run.evidence(), second, third))).toContain('real-time');
  });

  test('a push without a definite answer may take effect later, but not before it was sent', () => {
    const run = aRun();
    run.push('upsert', {}, at(0, 5));
    run.push('status', label('after'), at(50, 60));
    run.push('status', label('late'), { ...at(10, 20), end: 'lost' });
    run.push('status', label('open'), { ...at(12, 22), end: 'CONFIRMATION_TIMEOUT' });
    expect(check(run.evidence())).toEqual([]);
    const early = aRun();
    early.push('upsert', {}, at(0, 5));
    early.push('status', label('foreseen'), { ...at(50, 60), end: 'lost' });
    early.push('status', label('answered'), at(10, 20));
    expect(brokenRules(early.evidence())).toEqual(['real-time']);
  });

  test('a lost push was applied by the time at which its retry is told so', () => {
    const run = aRun();
    run.push('upsert', {}, at(0, 5));
    run.push('status', label('after'), at(70, 80));
    const lost = run.push('status', label('lost'), { ...at(10, 20), end: 'lost', key: 'k' });
    expect(check(run.evidence())).toEqual([]);
    run.retry(lost, at(66, 90));
    expect(check(run.evidence())).toEqual([]);
    run.retry(lost, at(30, 65));
    expect(brokenRules(run.evidence())).toEqual(['real-time']);
  });

  test('the earliest unanswered try of an operation bounds it', () => {
    const run = aRun();
    run.push('upsert', {}, at(0, 5));
    const lost = run.push('status', label('lost'), { ...at(40, 50), end: 'lost' });
    run.push('status', label('answered'), at(10, 20));
    expect(brokenRules(run.evidence())).toEqual(['real-time']);
    run.retry(lost, { ...at(15, 35), end: 'lost', fate: 'unseen' });
    expect(check(run.evidence())).toEqual([]);
  });
});

describe('pushes without an effect', () => {
  const stamped = (second: number) => ({ sourceUpdatedAt: 1_700_000_000 + second });

  /** Created at 0 to 5, deleted at 20 to 25, revived at 40 to 45, concluded at 60 to 65. */
  function aLife() {
    const run = aRun();
    run.push('upsert', stamped(0), at(0, 5));
    run.push('delete', stamped(20), at(20, 25));
    run.push('upsert', { title: 'again', ...stamped(40) }, at(40, 45));
    run.push('status', { bizStatus: 'DONE', ...stamped(60) }, at(60, 65));
    return run;
  }

  /** Lets a push of a fresh matter say that it met what it could not meet, or could. */
  function saying(
    [name, body]: readonly [OperationName, Body],
    [from, to]: readonly [number, number],
    claim: readonly ['PERSISTED' | 'REFUSED', string],
  ): Evidence {
    const run = aLife();
    const [state, result] = claim;
    const push = run.push(name, body, { ...at(from, to), fate: 'expired' });
    const matterId = state === 'PERSISTED' ? 1n : undefined;
    const evidence = withEntry(run.evidence(), push, { state, result, matterId });
    const code = state === 'PERSISTED' ? 0 : result === 'TOO_MANY_PARTIES' ? 400 : 404;
    const answer = { code, status: code || 200, outcome: result, reason: result, matterId: '1' };
    return withAnswer(evidence, push, { ...answer, externalId: 'A-1' });
  }

  const idle = ['status', {}] as const;
  const done = ['status', { bizStatus: 'DONE' }] as const;
  const remove = ['delete', {}] as const;
  const old = ['status', stamped(30)] as const;

  test.each([
    [idle, [0, 3], ['REFUSED', 'MATTER_NOT_FOUND']],
    [idle, [21, 39], ['REFUSED', 'MATTER_DELETED']],
    [idle, [22, 90], ['REFUSED', 'MATTER_DELETED']],
    [remove, [26, 39], ['PERSISTED', 'ALREADY_DELETED']],
    [
      ['delete', stamped(20)],
      [26, 39],
      ['PERSISTED', 'ALREADY_DELETED'],
    ],
    [old, [41, 50], ['PERSISTED', 'STALE_IGNORED']],
    [
      ['upsert', stamped(10)],
      [26, 30],
      ['PERSISTED', 'STALE_IGNORED'],
    ],
    [done, [61, 62], ['PERSISTED', 'UPDATED']],
    [done, [50, 90], ['PERSISTED', 'UPDATED']],
    [
      ['status', { bizStatus: 'PENDING' }],
      [46, 60],
      ['PERSISTED', 'UPDATED'],
    ],
  ] as const)('%j at %j may be told %j', (push, times, claim) => {
    expect(check(saying(push, times, claim))).toEqual([]);
  });

  test.each([
    [idle, [6, 9], ['REFUSED', 'MATTER_NOT_FOUND']],
    [idle, [6, 19], ['REFUSED', 'MATTER_DELETED']],
    [idle, [46, 90], ['REFUSED', 'MATTER_DELETED']],
    [remove, [46, 90], ['PERSISTED', 'ALREADY_DELETED']],
    [remove, [6, 19], ['PERSISTED', 'ALREADY_DELETED']],
    [
      ['delete', stamped(30)],
      [26, 39],
      ['PERSISTED', 'ALREADY_DELETED'],
    ],
    [old, [26, 39], ['PERSISTED', 'STALE_IGNORED']],
    [old, [6, 19], ['PERSISTED', 'STALE_IGNORED']],
    [
      ['status', {}],
      [46, 50],
      ['PERSISTED', 'STALE_IGNORED'],
    ],
    [done, [46, 59], ['PERSISTED', 'UPDATED']],
    [
      ['status', label('new')],
      [46, 90],
      ['PERSISTED', 'UPDATED'],
    ],
    [
      ['upsert', { title: 'new' }],
      [46, 90],
      ['PERSISTED', 'UPDATED'],
    ],
    [
      ['upsert', { title: 'new' }],
      [0, 90],
      ['PERSISTED', 'CREATED'],
    ],
    [remove, [0, 90], ['PERSISTED', 'DELETED']],
    [
      ['upsert', {}],
      [0, 90],
      ['REFUSED', 'TOO_MANY_PARTIES'],
    ],
  ] as const)('%j at %j cannot be told %j', (push, times, claim) => {
    expect(check(saying(push, times, claim))).toMatchObject([
      { rule: 'placeable', externalId: 'A-1' },
    ]);
  });

  test('what one push saw, no later one unsees', () => {
    const story = (second: readonly [number, number]) => {
      const run = aRun();
      run.push('upsert', {}, at(0, 5));
      run.push('delete', {}, at(10, 100));
      run.push('status', {}, at(20, 30));
      const blind = run.push('status', {}, { at: second, fate: 'expired' });
      const idleUpdate = { state: 'PERSISTED', result: 'UPDATED', matterId: 1n } as const;
      const told = { code: 0, outcome: 'UPDATED', matterId: '1', externalId: 'A-1' };
      return withAnswer(withEntry(run.evidence(), blind, idleUpdate), blind, told);
    };
    expect(brokenRules(story([31, 40]))).toEqual(['placeable']);
    expect(brokenRules(story([29, 40]))).toEqual([]);
  });

  test('a try is not refused once another one of it was applied', () => {
    const run = aRun();
    run.push('upsert');
    const keyed = run.push('status', label('once'), { key: 'k', at: [20, 30] });
    run.push('delete', {}, at(31, 40));
    const again = run.retry(keyed, { at: [41, 50], fate: 'MATTER_DELETED' });
    expect(check(run.evidence())).toMatchObject([
      { rule: 'placeable', requestId: again.requestId },
    ]);
  });

  test('a try that was refused before another one was applied is right', () => {
    const run = aRun();
    const keyed = run.push('status', label('once'), { key: 'k' });
    run.push('upsert');
    run.retry(keyed);
    run.retry(keyed);
    expect(check(run.evidence())).toEqual([]);
  });

  test('an id that callers may not choose is refused only where it is not taken', () => {
    const run = aRun();
    run.push('upsert', { externalId: 'auto:mine' });
    expect(check(run.evidence())).toEqual([]);
    const taken = run.push('upsert', { externalId: undefined, matterType: 'NOTICE' });
    const id = `auto:${taken.operation}`;
    run.push('upsert', { externalId: id }, { fate: 'EXTERNAL_ID_RESERVED' });
    expect(brokenRules(run.evidence())).toEqual(['placeable']);
  });
});
