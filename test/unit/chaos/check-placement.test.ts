/** The checker of chaos runs: what pushes without an effect were told must have been so. */

import type { OperationName } from '../../../src/domain/operation';
import { check } from '../../../tools/chaos/check/check';
import type { Evidence } from '../../../tools/chaos/check/evidence';
import { aRun } from '../../support/chaos-evidence';
import { brokenRules, withAnswer, withEntry } from '../../support/chaos-spoil';
import type { Body } from '../../support/push-bodies';

/** A status that stands in no other operation, so that it cannot be without an effect. */
const label = (externalStatusLabel: string) => ({ externalStatusLabel });
const at = (from: number, to: number) => ({ at: [from, to] as const });

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
  [idle, [5, 9], ['REFUSED', 'MATTER_NOT_FOUND']],
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
    const told = { status: 200, code: 0, outcome: 'UPDATED', matterId: '1', externalId: 'A-1' };
    return withAnswer(withEntry(run.evidence(), blind, idleUpdate), blind, told);
  };
  expect(brokenRules(story([31, 40]))).toEqual(['placeable']);
  expect(brokenRules(story([29, 40]))).toEqual([]);
});

test('a try is not rejected once another one of it was applied', () => {
  const run = aRun();
  run.push('upsert');
  const keyed = run.push('status', label('once'), { key: 'k', at: [20, 30] });
  run.push('delete', {}, at(31, 40));
  const again = run.retry(keyed, { at: [41, 50], fate: 'MATTER_DELETED' });
  expect(check(run.evidence())).toMatchObject([{ rule: 'placeable', requestId: again.requestId }]);
});

test('a try that was rejected before another one was applied is right', () => {
  const run = aRun();
  const keyed = run.push('status', label('once'), { key: 'k' });
  run.push('upsert');
  run.retry(keyed);
  run.retry(keyed);
  expect(check(run.evidence())).toEqual([]);
});

test('an id that callers may not choose is rejected only where it is not taken', () => {
  const run = aRun();
  run.push('upsert', { externalId: 'auto:mine' });
  expect(check(run.evidence())).toEqual([]);
  const taken = run.push('upsert', { externalId: undefined, matterType: 'NOTICE' });
  const id = `auto:${taken.operation}`;
  run.push('upsert', { externalId: id }, { fate: 'EXTERNAL_ID_RESERVED' });
  expect(brokenRules(run.evidence())).toEqual(['placeable']);
});

test('what a push met lies before every effect that was sent after it was told', () => {
  const run = aRun();
  run.push('upsert', {}, at(0, 5));
  run.push('delete', {}, at(30, 60));
  run.push('status', {}, at(10, 15));
  run.push('upsert', {}, at(20, 70));
  expect(check(run.evidence())).toMatchObject([{ rule: 'placeable' }]);
});
