/** The checker of chaos runs: the effects on a matter, their revisions, their fold, their order. */

import type { Matter } from '../../../src/domain/matter';
import { check } from '../../../tools/chaos/check/check';
import type { Evidence } from '../../../tools/chaos/check/evidence';
import { aRun, type Sent } from '../../support/chaos-evidence';
import { brokenRules, withAnswer, withEntry, withMatters } from '../../support/chaos-spoil';

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

  test('an effect of what changes nothing, or is rejected, is found', () => {
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

  test('an effect of a body that the contract rejects is found', () => {
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

describe('the order of the queue', () => {
  const queuedAt = (ms: number) => ({ queuedAt: new Date(ms) });

  test('revisions that follow it are in order, also those of the same millisecond', () => {
    const { run, first, second, third } = threeEffects();
    const evidence = withEntry(run.evidence(), first, queuedAt(1));
    expect(check(withEntry(withEntry(evidence, second, queuedAt(2)), third, queuedAt(2)))).toEqual(
      [],
    );
  });

  test('a revision that was queued before an earlier one is found', () => {
    const { run, first, second, third } = threeEffects();
    const evidence = withEntry(withEntry(run.evidence(), first, queuedAt(1)), second, queuedAt(3));
    expect(check(withEntry(evidence, third, queuedAt(2)))).toMatchObject([
      { rule: 'queue-order', requestId: third.requestId, externalId: 'A-1' },
    ]);
  });

  test('a push that was rejected as if an effect queued before it had not been is found', () => {
    const run = aRun();
    const missed = run.push('status', label('none'), at(10, 30));
    const created = run.push('upsert', {}, at(5, 40));
    const evidence = withEntry(run.evidence(), created, queuedAt(1));
    expect(check(withEntry(evidence, missed, queuedAt(1)))).toEqual([]);
    expect(check(withEntry(evidence, missed, queuedAt(0)))).toEqual([]);
    expect(check(withEntry(evidence, missed, queuedAt(2)))).toMatchObject([
      { rule: 'queue-order', requestId: missed.requestId },
    ]);
  });

  test('a push that met an effect that was queued after it is found', () => {
    const run = aRun();
    const created = run.push('upsert', {}, at(5, 40));
    const deleted = run.push('delete', {}, at(10, 30));
    const met = run.push('status', label('none'), at(5, 45));
    const evidence = withEntry(withEntry(run.evidence(), created, queuedAt(1)), met, queuedAt(2));
    expect(check(withEntry(evidence, deleted, queuedAt(2)))).toEqual([]);
    expect(check(withEntry(evidence, deleted, queuedAt(3)))).toMatchObject([
      { rule: 'queue-order', requestId: met.requestId },
    ]);
  });
});
