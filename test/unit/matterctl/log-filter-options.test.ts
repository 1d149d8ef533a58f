/** The filter options of the log commands. */
import { Command } from 'commander';
import { dayAt } from '../../../src/protocol/local-day';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import {
  type FilterOptions,
  toLogFilter,
  withLogFilters,
} from '../../../tools/matterctl/log/filter-options';
import { createSettings } from '../../../tools/matterctl/settings';
import type { Tool } from '../../../tools/matterctl/tool';

const settings = createSettings({ PORTAL_TIME_ZONE: 'Asia/Shanghai' }, '/');

afterEach(() => jest.restoreAllMocks());

/** @throws CommandFailure or CommanderError */
function read(...args: string[]): LogFilter {
  const command = withLogFilters(new Command('query'), { settings } as Tool)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  command.parse(args, { from: 'user' });
  const filter = toLogFilter(command.opts<FilterOptions>());
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

test('each option narrows its own field', () => {
  expect(
    read(
      ...['--system-code', 'OA', '--client-id', 'oa', '--key', 'k1', '--external-id', 'A-1'],
      ...['--operation', 'upsert', '--outcome', 'created', '--state', 'PERSISTED'],
      ...['--request-id', '0123456789ABCDEF01234567', '--batch', 'ABCDEF012345670123456789'],
    ),
  ).toEqual({
    systemCode: 'OA',
    clientId: 'oa',
    idempotencyKey: 'k1',
    externalId: 'A-1',
    operation: 'upsert',
    result: 'CREATED',
    state: 'PERSISTED',
    requestId: '0123456789abcdef01234567',
    batchId: 'abcdef012345670123456789',
  });
  expect(read('--reason', 'UNKNOWN_USER')).toEqual({ result: 'UNKNOWN_USER' });
  const both = ['UNKNOWN_USER', 'VALIDATION_FAILED'];
  expect(read('--reason', 'unknown_user, validation_failed')).toEqual({ result: both });
  expect(read('--reason', 'UNKNOWN_USER', '--reason', 'VALIDATION_FAILED')).toEqual({
    result: both,
  });
  expect(read('--still-failed')).toEqual({ stillFailed: true });
  expect(read('--failed', '--on', '2024-06-01')).toMatchObject({ failed: true });
  expect(read()).toEqual({});
});

test.each([
  ['2024-06-01T08:00', Date.UTC(2024, 5, 1)],
  ['2024-06-01 08:00:00', Date.UTC(2024, 5, 1)],
  ['2024-06-01T00:00:00Z', Date.UTC(2024, 5, 1)],
  ['1717200000', Date.UTC(2024, 5, 1)],
])('--from %s is a time in the zone of the portal', (text, from) => {
  expect(read('--from', text)).toEqual({ from });
});

test.each([
  ['15m', 900_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
])('--from %s is a span back from now', (text, span) => {
  const before = Date.now();
  const { from = 0 } = read('--from', text);
  expect(from + span).toBeGreaterThanOrEqual(before);
  expect(from + span).toBeLessThanOrEqual(Date.now());
});

test('today and yesterday are days of the zone of the portal, to begin with or as a whole', () => {
  // Midnight does not come meanwhile.
  jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  const today = dayAt(Date.now(), 'Asia/Shanghai');
  const yesterday = dayAt(today.start - 1, 'Asia/Shanghai');
  expect(read('--since', 'today')).toEqual({ from: today.start });
  expect(read('--from', 'yesterday', '--to', 'today')).toEqual({
    from: yesterday.start,
    to: today.start,
  });
  expect(read('--on', 'yesterday')).toEqual({ from: yesterday.start, to: yesterday.end });
  expect(read('--on', '2024-06-01')).toEqual({
    from: Date.UTC(2024, 4, 31, 16),
    to: Date.UTC(2024, 5, 1, 16),
  });
});

test.each([
  [['--external-id', 'A-1'], '--external-id needs --system-code'],
  [['--key', 'k1'], '--key needs --system-code'],
  [['--outcome', 'CREATED', '--reason', 'UNKNOWN_USER'], 'not both'],
  [['--reason', 'VALIDATION_FAILD'], 'Did you mean VALIDATION_FAILED?'],
  [['--failed', '--outcome', 'CREATED'], 'leave one of them out'],
  [['--reason', 'UNKNOWN_USER,VALID'], 'The reasons are: '],
  [
    ['--reason', 'nonsense'],
    'The reasons are: PARTIAL_FAILURE, HEADERS_TOO_LARGE, BODY_TOO_LARGE, ',
  ],
  [['--reason', 'created'], 'That is an outcome: --outcome CREATED.'],
  [['--outcome', 'create'], 'Did you mean CREATED? The outcomes are: CREATED, UPDATED, '],
  [['--outcome', 'UNKNOWN_USER'], 'That is a reason: --reason UNKNOWN_USER.'],
  [['--outcome', 'PERSISTED'], 'That is a state: --state PERSISTED.'],
  [['--from', '2024-06-02T00:00', '--to', '2024-06-01T00:00'], '--to must be later than --from'],
  [['--from', '1h', '--to', '2h'], '--to must be later than --from'],
  [['--from', 'last week'], 'a time such as'],
  [['--on', 'tomorrow'], 'today, yesterday, or a day such as'],
  [['--on', 'today', '--from', '1h'], 'leave --from and --to out'],
  [['--since', '1h', '--from', '1h'], 'give one of them'],
  [['--from', '800d'], 'at most 365d'],
  [['--to', '2024-06-31T00:00'], 'a time such as'],
  [['--state', 'LOST'], 'Allowed choices'],
  [['--request-id', 'abc'], '24 hex digits'],
])('%j is wrong usage', (args, message) => {
  expect(() => read(...args)).toThrow(message);
});
