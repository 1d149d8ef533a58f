/** What log tail --follow tells, and when. */
import { mongo } from 'mongoose';
import { firstIdAt } from '../../../src/storage/push-log/request-id';
import { keepPolling, LogWatch } from '../../../tools/matterctl/log/follow';
import { NOW } from '../../support/builders';
import { sink } from '../../support/sink';
import { until } from '../../support/wait';

const idAt = (offset: number) => firstIdAt(NOW + offset);
const ID = idAt(0);

describe('an entry', () => {
  test('is told once when it is settled', () => {
    const watch = new LogWatch();
    expect(watch.isDue(ID, 'PERSISTED', NOW)).toBe(true);
    watch.markShown(ID, 'PERSISTED', NOW);
    expect(watch.isDue(ID, 'PERSISTED', NOW + 1_000)).toBe(false);
  });

  test('comes again where it could not be told', () => {
    const watch = new LogWatch();
    expect(watch.isDue(ID, 'PERSISTED', NOW)).toBe(true);
    expect(watch.isDue(ID, 'PERSISTED', NOW + 1_000)).toBe(true);
  });

  test('is told as queued after three seconds, once, and again when it is settled', () => {
    const watch = new LogWatch();
    const isDueAt = (offset: number) => watch.isDue(ID, 'QUEUED', NOW + offset);
    expect([0, 1_000, 2_999].map(isDueAt)).toEqual([false, false, false]);
    expect(isDueAt(3_000)).toBe(true);
    watch.markShown(ID, 'QUEUED', NOW + 3_000);
    expect(isDueAt(9_000)).toBe(false);
    expect(watch.isDue(ID, 'EXPIRED', NOW + 10_000)).toBe(true);
    watch.markShown(ID, 'EXPIRED', NOW + 10_000);
    expect(watch.isDue(ID, 'EXPIRED', NOW + 11_000)).toBe(false);
    expect(watch.unsettled(idAt(1))).toEqual([]);
  });
});

test('what left the window is forgotten, but for some that are still queued', () => {
  const watch = new LogWatch();
  for (let n = 0; n < 150; n += 1) watch.isDue(idAt(n), 'QUEUED', NOW);
  watch.markShown(idAt(200), 'PERSISTED', NOW);
  watch.removeBefore(idAt(100_000));
  expect(watch.isDue(idAt(200), 'PERSISTED', NOW)).toBe(true);
  const kept = watch.unsettled(idAt(100_000));
  expect(kept).toHaveLength(100);
  expect(kept[0]).toBe(idAt(50));
  watch.drop(idAt(50));
  expect(watch.unsettled(idAt(51))).toEqual([]);
});

describe('polling', () => {
  test('waits for a database that is away, and tells so once', async () => {
    const stop = new AbortController();
    const stderr = sink();
    let polls = 0;
    const poll = async () => {
      polls += 1;
      if (polls <= 2) throw new mongo.MongoNetworkError('connection refused');
      stop.abort();
    };
    await keepPolling(poll, stderr.stream, stop.signal);
    expect(polls).toBe(3);
    expect(stderr.text()).toBe('The database is away: connection refused\nThe database is back.\n');
  });

  test('ends at any other error', async () => {
    const poll = () => Promise.reject(new Error('a bug'));
    const { signal } = new AbortController();
    await expect(keepPolling(poll, sink().stream, signal)).rejects.toThrow('a bug');
  });

  test('stops at once, in the middle of its pause', async () => {
    const stop = new AbortController();
    const poll = jest.fn(async () => undefined);
    const polling = keepPolling(poll, sink().stream, stop.signal, 3_600_000);
    await until('a poll', async () => poll.mock.calls.length > 0);
    stop.abort();
    await polling;
    expect(poll).toHaveBeenCalledTimes(1);
  });
});
