/** Alerts of the operator's screen: their limits, severities and sections are those of the rules. */
import { alertsOf, LIMITS, SHED } from '../../../src/operator/alerts';
import { createWrongTokenCounter } from '../../../src/operator/changes';
import { pushKindOf } from '../../../src/operator/history';
import type { ServiceStatus } from '../../../src/status/status';
import { alerts } from '../../support/prometheus';

const RULES = new Map(alerts().map((rule) => [rule.alert, rule]));
const WORKER = { type: 'worker', isSilent: false };
const server = (name: string, isReachable = true) => ({ server: name, isReachable });
const GOOD = { servers: [server('redis')], processes: [WORKER], partitions: [], flow: null };
const statusOf = (changes: object) => ({ ...GOOD, ...changes }) as unknown as ServiceStatus;
const flow = (result: string, count: number) => ({
  flow: {
    spanMs: 300_000,
    results: [
      { result: 'CREATED', count: 1_000 },
      { result, count },
    ],
  },
});
const shown = (changes: object) => alertsOf(statusOf(changes));

test.each<[string, object]>([
  ['MatterPushServerDown', { servers: [server('redis', false)] }],
  ['MatterPushNoWorker', { processes: [{ ...WORKER, isSilent: true }] }],
  ['MatterPushPartitionStuck', { partitions: [{ oldestMs: 30_001 }] }],
  ['MatterPushOldestWaiting', { partitions: [{ oldestMs: 5_001 }] }],
  ['MatterPushFailing', flow('INTERNAL_ERROR', 60)],
  ['MatterPushTimeouts', flow('CONFIRMATION_TIMEOUT', 31)],
  ['MatterPushShedding', flow('PARTITION_FULL', 31)],
  ['MatterPushRateLimited', flow('RATE_LIMITED', 301)],
  ['MatterPushBadSignatures', flow('SIGNATURE_MISMATCH', 301)],
])('%s has the severity, section and limit of its rule', (name, changes) => {
  const rule = RULES.get(name);
  expect(shown(changes)).toMatchObject([
    { name, severity: rule?.labels.severity, runbook: rule?.annotations.runbook_url },
  ]);
  const limit = LIMITS[name as keyof typeof LIMITS];
  if (limit !== undefined) expect(rule?.expr.trim()).toMatch(new RegExp(`> ${limit}$`));
});

test('where all is well there is none, nor where a client is paused', () => {
  expect(shown({})).toEqual([]);
  expect(shown(flow('CLIENT_PAUSED', 5_000))).toEqual([]);
  expect(shown({ processes: null, partitions: null })).toEqual([]);
});

test('what is shed is what the rule counts', () => {
  const expr = String(RULES.get('MatterPushShedding')?.expr);
  expect(expr).toContain(`"${SHED.join('|')}"`);
});

test.each([
  ['CREATED', 'written'],
  ['REPLAYED', 'unchanged'],
  ['VALIDATION_FAILED', 'rejected'],
  ['CLIENT_PAUSED', 'rejected'],
  ['CONFIRMATION_TIMEOUT', 'failed'],
])('%s counts as %s', (result, kind) => {
  expect(pushKindOf(result)).toBe(kind);
});

test('ten wrong tokens of an address are looked at in a minute, those of another one too', () => {
  let now = 0;
  const tries = createWrongTokenCounter(() => now);
  for (let n = 0; n < 10; n += 1) {
    expect(tries.mayTry('a')).toBe(true);
    tries.wrong('a');
  }
  expect([tries.mayTry('a'), tries.mayTry('b')]).toEqual([false, true]);
  now = 60_000;
  expect(tries.mayTry('a')).toBe(true);
});
