/** The filter options of the log commands. */
import { Command } from 'commander';
import { type FilterOptions, toLogFilter, withLogFilters } from '../../src/cli/log/filter-options';
import { createSettings } from '../../src/cli/settings';
import type { Tool } from '../../src/cli/tool';
import type { LogFilter } from '../../src/push-log/log-filter';

const settings = createSettings({ PORTAL_TIME_ZONE: 'Asia/Shanghai' }, '/');

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
      ...['--request-id', '0123456789ABCDEF01234567'],
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
  });
  expect(read('--reason', 'UNKNOWN_USER')).toEqual({ result: 'UNKNOWN_USER' });
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
  const { from = 0 } = read('--from', text);
  expect(Math.abs(Date.now() - span - from)).toBeLessThan(1_000);
});

test.each([
  [['--external-id', 'A-1'], '--external-id needs --system-code'],
  [['--key', 'k1'], '--key needs --system-code'],
  [['--outcome', 'CREATED', '--reason', 'X'], 'not both'],
  [['--from', '2024-06-02T00:00', '--to', '2024-06-01T00:00'], '--to must be later than --from'],
  [['--from', '1h', '--to', '2h'], '--to must be later than --from'],
  [['--from', 'yesterday'], 'a time such as'],
  [['--from', '800d'], 'at most 365d'],
  [['--to', '2024-06-31T00:00'], 'a time such as'],
  [['--state', 'LOST'], 'Allowed choices'],
  [['--request-id', 'abc'], '24 hex digits'],
])('%j is wrong usage', (args, message) => {
  expect(() => read(...args)).toThrow(message);
});
