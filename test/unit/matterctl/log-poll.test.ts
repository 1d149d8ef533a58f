/** How log tail --follow reads a log that is written behind its back. */
import { Types } from 'mongoose';
import type { LogState } from '../../../src/protocol/log-states';
import type { LogEntry } from '../../../src/storage/push-log/entry';
import { type LogFilter, matchesFilter } from '../../../src/storage/push-log/log-filter';
import { firstIdAt, receivedAtOf } from '../../../src/storage/push-log/request-id';
import { LogWatch, Poll } from '../../../tools/matterctl/log/follow';
import type { LogSource, ShownEntry } from '../../../tools/matterctl/source/sources';
import { NOW } from '../../support/builders';

let log: LogEntry[];
let now: number;
beforeEach(() => {
  log = [];
  now = NOW;
});

/** Records an entry whose id says so many seconds after NOW. */
const add = (second: number, state: LogState = 'PERSISTED') =>
  log.push({ _id: new Types.ObjectId(firstIdAt(NOW + second * 1_000)), state } as LogEntry);
const placeOf = ({ _id }: LogEntry) => (receivedAtOf(String(_id)) - NOW) / 1_000;

const find = ({ from = 0, to = Number.POSITIVE_INFINITY, ...filter }: LogFilter) =>
  log
    .filter((entry) => {
      const at = receivedAtOf(String(entry._id));
      const isIt = filter.requestId === undefined || filter.requestId === String(entry._id);
      return isIt && at >= from && at < to && matchesFilter(entry, filter);
    })
    .sort((a, b) => placeOf(a) - placeOf(b));
const toView = ({ _id, state }: LogEntry) => ({ requestId: String(_id), state }) as ShownEntry;
const source: Pick<LogSource, 'page' | 'all'> = {
  page: async (filter) => {
    const entries = find(filter).reverse().map(toView);
    return { entries, next: undefined, place: undefined, notRecorded: undefined };
  },
  all: async function* (filter) {
    yield* find(filter).map(toView);
  },
};

/** @returns polls at a second after NOW, and gives the seconds of what it told */
function following(filter: LogFilter = {}): (second: number) => Promise<number[]> {
  const watch = new LogWatch();
  const poll = new Poll({ source, filter, watch, clock: () => now });
  return async (second) => {
    now = NOW + second * 1_000;
    const markShown: number[] = [];
    for await (const entry of poll.due()) {
      watch.markShown(entry.requestId, entry.state, now);
      markShown.push((receivedAtOf(entry.requestId) - NOW) / 1_000);
    }
    poll.advance();
    return markShown;
  };
}
const settle = (state: LogState) => {
  for (const entry of log) entry.state = state;
};

test('an entry that becomes visible late is told once, in its place', async () => {
  const poll = following();
  add(0);
  expect(await poll(0)).toEqual([0]);
  add(22);
  expect(await poll(22)).toEqual([22]);
  add(2);
  add(23);
  expect(await poll(23)).toEqual([2, 23]);
  expect(await poll(24)).toEqual([]);
});

test('what came while nothing could be read is told, however long that was', async () => {
  const poll = following();
  add(0);
  await poll(0);
  for (const second of [100, 500, 900]) add(second);
  expect(await poll(1_000)).toEqual([100, 500, 900]);
});

test('our clock may be ahead or behind', async () => {
  for (const ahead of [3_600, -3_600]) {
    log = [];
    const poll = following();
    add(0);
    expect(await poll(ahead)).toEqual([0]);
    add(1);
    expect(await poll(1 + ahead)).toEqual([1]);
    for (let second = 40; second < 120; second += 40) {
      add(second);
      expect(await poll(second + ahead)).toEqual([second]);
    }
  }
});

test('an id of a clock that is far ahead does not hide what comes', async () => {
  const poll = following();
  add(3_600);
  expect(await poll(0)).toEqual([3_600]);
  add(1);
  expect(await poll(1)).toEqual([1]);
});

test('a push that stays queued is told after 3 s, and when it is settled after minutes', async () => {
  const poll = following();
  add(0, 'QUEUED');
  expect(await poll(0)).toEqual([]);
  expect(await poll(3)).toEqual([0]);
  add(300, 'QUEUED');
  expect(await poll(300)).toEqual([]);
  expect(await poll(301)).toEqual([]);
  settle('EXPIRED');
  expect(await poll(302)).toEqual([0, 300]);
  expect(await poll(303)).toEqual([]);
});

test('a filter narrows it, also once a push is settled', async () => {
  const poll = following({ state: 'QUEUED', from: NOW + 10_000 });
  add(0, 'QUEUED');
  add(10, 'QUEUED');
  expect([await poll(10), await poll(13)]).toEqual([[], [10]]);
  settle('PERSISTED');
  add(100, 'QUEUED');
  expect([await poll(100), await poll(101)]).toEqual([[], []]);
});

test('an empty log is no problem', async () => {
  const poll = following();
  expect(await poll(0)).toEqual([]);
  add(1);
  expect(await poll(1)).toEqual([1]);
});
