/** What waits, counted by key and by client. */

import { createWaitingTally, hottest } from '../../../src/queue/inspect/waiting-tally';
import type { WaitingPush } from '../../../src/queue/records';
import { aPush, NOW } from '../../support/builders';

const waiting = (externalId: string, age: number, clientId = 'oa'): WaitingPush => ({
  ...aPush({ externalId, clientId }),
  deadline: NOW + 1,
  queuedAt: NOW - age,
});

function tallyOf(...pushes: WaitingPush[]) {
  const tally = createWaitingTally(NOW);
  for (const push of pushes) tally.add(1, push);
  return tally;
}

const key = (externalId: string, count: number, oldestMs: number) => ({
  systemCode: 'OA',
  externalId,
  partition: 1,
  waiting: count,
  oldestMs,
});

test('the key whose first push has waited longest comes first, however many the others have', () => {
  const tally = tallyOf(waiting('B', 20), waiting('A', 300), waiting('B', 10), waiting('B', 5));
  expect(tally.groups()).toEqual([key('A', 1, 300), key('B', 3, 20)]);
});

test('of two that have waited as long the one with more pushes comes first', () => {
  const pushes = [waiting('A', 10), waiting('B', 10), waiting('B', 5)];
  expect(tallyOf(...pushes).groups()).toEqual([key('B', 2, 10), key('A', 1, 10)]);
});

test('the hottest keys are those with the most pushes; of two alike the older one', () => {
  const pushes = [waiting('A', 1), waiting('B', 2), waiting('C', 3), waiting('C', 3)];
  const groups = tallyOf(...pushes).groups();
  expect(hottest(groups, 2)).toEqual([key('C', 2, 3), key('B', 1, 2)]);
});

test('keys of two systems with the same id are two', () => {
  const tally = tallyOf(waiting('A', 1), { ...waiting('A', 2), systemCode: 'ERP' });
  expect(tally.groups().map(({ systemCode }) => systemCode)).toEqual(['ERP', 'OA']);
});

test('a client is as far behind as its oldest push', () => {
  const tally = tallyOf(waiting('A', 9, 'x'), waiting('A', 70, 'y'), waiting('B', 50, 'x'));
  expect(tally.clients()).toEqual([
    { clientId: 'y', waiting: 1, oldestMs: 70 },
    { clientId: 'x', waiting: 2, oldestMs: 50 },
  ]);
});

test('a push that was queued after the look began has not waited', () => {
  expect(tallyOf(waiting('A', -5)).groups()).toEqual([key('A', 1, 0)]);
});
