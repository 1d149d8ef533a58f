/** The way of a push, drawn: steps, durations, and clocks that differ. */
import { type Times, timelineLines, timelineOf } from '../../../tools/matterctl/log/timeline';
import { NOW } from '../../support/builders';

const at = (offset: number) => new Date(NOW + offset).toISOString();
const aWay = (over: Partial<Times> = {}): Times => ({
  state: 'PERSISTED',
  receivedAt: at(0),
  queuedAt: at(10),
  startedAt: at(20),
  settledAt: at(100),
  ...over,
});
const names = (times: Times) => timelineOf(times).steps.map(({ name }) => name);
const draw = (times: Times) => timelineLines(timelineOf(times), 'Asia/Shanghai');

test('every step has the milliseconds since the one before', () => {
  const { steps, total } = timelineOf(aWay());
  expect(steps.map(({ name, took }) => [name, took])).toEqual([
    ['received', undefined],
    ['queued', 10],
    ['started', 10],
    ['persisted', 80],
  ]);
  expect(total).toBe(100);
});

test('it is drawn in local time with bars that are in proportion and end together', () => {
  expect(draw(aWay())).toEqual([
    'received   2024-06-01 08:00:00.000',
    `queued     2024-06-01 08:00:00.010       10 ms  ${'█'.repeat(4)}`,
    `started    2024-06-01 08:00:00.020       10 ms  ${' '.repeat(4)}${'█'.repeat(4)}`,
    `persisted  2024-06-01 08:00:00.100       80 ms  ${' '.repeat(8)}${'█'.repeat(32)}`,
    'total                                   100 ms',
  ]);
});

test('what took any time at all is seen, also at the very end', () => {
  const lines = draw(aWay({ queuedAt: at(99_998), startedAt: at(99_999), settledAt: at(100_000) }));
  expect(lines.slice(1, 4).every((line) => line.endsWith('█'))).toBe(true);
  expect(Math.max(...lines.map((line) => line.length))).toBe(48 + 40);
});

test('a push that was never queued has fewer steps, and no total beside its one duration', () => {
  const rejected = aWay({ state: 'REFUSED', settledAt: at(3) });
  const way = { ...rejected, queuedAt: null, startedAt: null };
  expect(names(way)).toEqual(['received', 'refused']);
  expect(draw(way)).toHaveLength(2);
  expect(names({ ...way, state: 'REPLAYED' })).toEqual(['received', 'replayed']);
});

test('one that is not settled ends where it is, without a total', () => {
  const times = aWay({ state: 'QUEUED', queuedAt: null, startedAt: null, settledAt: null });
  expect(timelineOf(times)).toEqual({
    steps: [{ name: 'received', at: NOW, took: undefined, skew: 0 }],
    total: undefined,
  });
});

test('clocks that differ give no negative duration, but a note', () => {
  const times = aWay({ queuedAt: at(-7), startedAt: at(-5), settledAt: at(-1) });
  const { steps, total } = timelineOf(times);
  expect(steps.map(({ took, skew }) => [took, skew])).toEqual([
    [undefined, 0],
    [0, 7],
    [2, 0],
    [4, 0],
  ]);
  expect(total).toBe(0);
  const lines = draw(times);
  expect(lines[1]).toContain('0 ms    (clocks differ by 7 ms or more)');
  expect(lines.join()).not.toMatch(/-\d+ ms/);
});

test('steps of one and the same millisecond have no bars', () => {
  const lines = draw(aWay({ queuedAt: at(0), startedAt: at(0), settledAt: at(0) }));
  expect(lines.join()).not.toContain('█');
});
