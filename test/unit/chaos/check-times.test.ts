/** The checker of chaos runs: deadlines, broken connections, recovery. */
import { check } from '../../../tools/chaos/check/check';
import type { Evidence } from '../../../tools/chaos/check/evidence';
import type { FaultKind, Span } from '../../../tools/chaos/history';
import { NOW } from '../../support/builders';
import { aFault, aRun } from '../../support/chaos-evidence';
import {
  brokenRules,
  withEntry,
  withFaults,
  withServerStalls,
  withStalls,
} from '../../support/chaos-spoil';

/** One push of the length that is given, in milliseconds; PUSH_TIMEOUT is 10 s. */
function lasting(length: number, end?: 'lost' | 'hung'): Evidence {
  const run = aRun();
  run.push('upsert', {}, { at: [1_000, 1_000 + length], ...(end && { end, fate: 'unseen' }) });
  return run.evidence();
}

const stop = (from: number, to: number, target?: string) => aFault('stop-web', from, to, target);

describe('answered in time', () => {
  test('a second after the deadline is the last moment', () => {
    expect(check(lasting(11_000))).toEqual([]);
    expect(brokenRules(lasting(11_001))).toEqual(['answered-in-time']);
  });

  test('the time in which its own web process was stopped comes on top, once', () => {
    const late = lasting(14_000);
    expect(check(withFaults(late, stop(500, 4_000)))).toEqual([]);
    expect(check(withFaults(late, stop(2_000, 4_000), stop(3_000, 5_000)))).toEqual([]);
    const tooShort: [number, number, string?][] = [
      [500, 3_999],
      [2_000, 5_000, 'web-1'],
      [20_000, 30_000],
    ];
    for (const [from, to, target] of tooShort) {
      expect(brokenRules(withFaults(late, stop(from, to, target)))).toEqual(['answered-in-time']);
    }
    const twice = withFaults(late, stop(2_000, 4_000), stop(2_000, 4_000));
    expect(brokenRules(twice)).toEqual(['answered-in-time']);
    expect(brokenRules(withFaults(late, aFault('stop-worker', 1_000, 9_000)))).not.toEqual([]);
  });

  test('a request that hangs is one, unless its web process was stopped for so long', () => {
    expect(brokenRules(lasting(60_000, 'hung'))).toEqual(['answered-in-time']);
    expect(brokenRules(lasting(9_000, 'hung'))).toEqual(['answered-in-time']);
    expect(check(withFaults(lasting(60_000, 'hung'), stop(1_000, 50_000)))).toEqual([]);
    expect(brokenRules(withFaults(lasting(60_000, 'hung'), stop(1_000, 40_000)))).not.toEqual([]);
  });

  test('so does the time in which the harness stood still, but not twice', () => {
    const late = lasting(14_000);
    expect(check(withStalls(late, { from: 2_000, to: 5_000 }))).toEqual([]);
    expect(brokenRules(withStalls(late, { from: 2_000, to: 4_999 }))).toEqual(['answered-in-time']);
    const both = withFaults(late, stop(2_000, 4_000));
    expect(check(withStalls(both, { from: 3_000, to: 5_000 }))).toEqual([]);
    expect(brokenRules(withStalls(both, { from: 2_000, to: 4_000 }))).toEqual(['answered-in-time']);
    expect(
      check(withStalls(withFaults(late, stop(9_000, 11_000, 'web-1')), { from: 0, to: 4_000 })),
    ).toEqual([]);
  });

  test('that its web process had just started is no excuse, but is said', () => {
    const late = withFaults(lasting(12_000), aFault('restart-web', 0, 300));
    expect(check(late)).toMatchObject([
      { rule: 'answered-in-time', what: expect.stringContaining('started 700 ms before') },
    ]);
    const long = withFaults(lasting(12_000), aFault('restart-web', -9_000, -4_001));
    expect(check(long)).toMatchObject([{ what: expect.not.stringContaining('was started') }]);
  });

  test('a violation gives times in whole milliseconds', () => {
    expect(check(lasting(12_000.123))).toMatchObject([{ what: expect.not.stringContaining('.') }]);
  });

  test('a connection that breaks after the deadline was no answer either', () => {
    expect(brokenRules(lasting(11_001, 'lost'))).toEqual(['answered-in-time']);
  });
});

describe('connections', () => {
  /** Broken from 5,000 to 5,010, and only these faults. */
  const broken = (
    end: 'lost' | 'refused',
    kind: FaultKind,
    from: number,
    to: number,
    target?: string,
  ) => {
    const run = aRun();
    run.push('upsert', {}, { at: [5_000, 5_010], end, fate: 'unseen' });
    const evidence = run.evidence();
    const history = { ...evidence.history, faults: [aFault(kind, from, to, target)] };
    return { ...evidence, history };
  };

  test.each(['lost', 'refused'] as const)(
    '%s is excused by a kill or restart of its web process',
    (end) => {
      expect(check(broken(end, 'kill-web', 4_000, 6_000))).toEqual([]);
      expect(check(broken(end, 'restart-web', 4_000, 4_750))).toEqual([]);
      expect(check(broken(end, 'kill-web', 5_260, 6_000))).toEqual([]);
    },
  );

  test.each<[FaultKind, number, number, string]>([
    ['kill-web', 4_000, 4_749, 'web-0'],
    ['kill-web', 5_261, 6_000, 'web-0'],
    ['kill-web', 4_000, 6_000, 'web-1'],
    ['stop-web', 4_000, 6_000, 'web-0'],
    ['kill-worker', 4_000, 6_000, 'worker-0'],
    ['restart-redis', 4_000, 6_000, 'redis'],
    ['reset-mongo', 4_000, 6_000, 'mongo'],
  ])('not by %s from %i to %i of %s', (kind, from, to, target) => {
    expect(brokenRules(broken('lost', kind, from, to, target))).toEqual(['connection']);
  });

  test('a long restart before short ones is seen', () => {
    const evidence = broken('lost', 'restart-web', 1_000, 9_000);
    const more = withFaults(
      evidence,
      aFault('kill-web', 2_000, 2_100),
      aFault('kill-web', 9_500, 9_600),
    );
    expect(check(more)).toEqual([]);
  });
});

describe('the end of a run', () => {
  test('an entry that is still queued is found', () => {
    const run = aRun();
    const push = run.push('upsert', {}, { end: 'lost', fate: 'expired' });
    expect(check(run.evidence())).toEqual([]);
    const queued = { state: 'QUEUED', result: undefined } as const;
    expect(check(withEntry(run.evidence(), push, queued))).toMatchObject([
      { rule: 'settled', requestId: push.requestId },
    ]);
  });

  test('an effect of a push that was taken up after its deadline is found', () => {
    const run = aRun();
    const push = run.push('upsert', {}, { at: [0, 500] });
    const startedAt = (time: number) =>
      withEntry(run.evidence(), push, { startedAt: new Date(NOW + time) });
    expect(check(startedAt(10_000))).toEqual([]);
    expect(brokenRules(startedAt(10_001))).toEqual(['late-effect']);
    expect(brokenRules(withEntry(run.evidence(), push, { startedAt: undefined }))).toEqual([
      'late-effect',
    ]);
  });

  test('a deadline counts as it was, where the clock of its web process was wrong', () => {
    const started = (time: number, ...shifts: [string, number][]) => {
      const run = aRun();
      const push = run.push('upsert', {}, { at: [0, 500] });
      const late = withEntry(run.evidence(), push, { startedAt: new Date(NOW + time) });
      return brokenRules({ ...late, history: { ...late.history, clockShifts: new Map(shifts) } });
    };
    expect(started(10_001, ['web-0', -1])).toEqual([]);
    expect(started(10_000, ['web-0', 1])).toEqual(['late-effect']);
    expect(started(10_001, ['web-1', -1])).toEqual(['late-effect']);
  });

  test('where nobody knows which web process it was, the slowest that it can have been counts', () => {
    const run = aRun();
    const push = run.push('upsert', {}, { end: 'lost' });
    const started = (time: number, ...shifts: [string, number][]) => {
      const late = withEntry(run.evidence(), push, {
        startedAt: new Date(Number(run.evidence().entries[0]?.deadlineAt) + time),
      });
      return brokenRules({ ...late, history: { ...late.history, clockShifts: new Map(shifts) } });
    };
    expect(started(5, ['web-0', -5], ['web-1', 5])).toEqual([]);
    expect(started(6, ['web-0', -5], ['web-1', -9])).toEqual(['late-effect']);
  });

  test('an effect after its deadline is late also where its caller was told 504', () => {
    const run = aRun();
    const push = run.push('upsert', {}, { at: [0, 500], end: 'CONFIRMATION_TIMEOUT' });
    expect(check(run.evidence())).toEqual([]);
    const late = { startedAt: new Date(NOW + 10_001) };
    expect(brokenRules(withEntry(run.evidence(), push, late))).toEqual([
      'answer-agrees',
      'late-effect',
    ]);
  });

  test.each(['BACKLOG_FULL', 'QUEUE_UNAVAILABLE', 'CONFIRMATION_TIMEOUT'] as const)(
    '%s that comes ten seconds after the last fault is found, whenever it was sent',
    (end) => {
      const run = aRun();
      run.push('upsert', {}, { at: [29_000, 30_010], end, fate: 'expired' });
      expect(check(run.evidence({ faultsEndedAt: 20_010 }))).toEqual([]);
      expect(brokenRules(run.evidence({ faultsEndedAt: 20_009 }))).toEqual(['recovery']);
    },
  );

  test.each(['lost', 'refused', 'hung'] as const)(
    '%s long after the last fault is found',
    (end) => {
      const run = aRun();
      run.push('upsert', {}, { at: [30_000, 30_010], end, fate: 'unseen' });
      const evidence = withFaults(run.evidence({ faultsEndedAt: 19_999 }), stop(30_000, 30_010));
      expect(brokenRules(evidence)).toEqual(['recovery']);
    },
  );

  test('a rejection is service', () => {
    const run = aRun();
    run.push('status', {}, { at: [30_000, 30_010] });
    run.push('upsert', { title: ' ' }, { at: [30_000, 30_010] });
    expect(check(run.evidence({ faultsEndedAt: 0 }))).toEqual([]);
  });

  test('what was sent ten seconds after the last fault is answered within 2,500 ms', () => {
    const taking = (ms: number, stalls: readonly Span[] = []) => {
      const run = aRun();
      run.push('upsert', {}, { at: [30_000, 30_000 + ms] });
      return withStalls(run.evidence({ faultsEndedAt: 19_999 }), ...stalls);
    };
    expect(check(taking(2_500))).toEqual([]);
    expect(brokenRules(taking(2_501))).toEqual(['recovery']);
    expect(check({ ...taking(2_501), faultsEndedAt: 20_000 })).toEqual([]);
    expect(check(taking(2_700, [{ from: 31_000, to: 31_200 }]))).toEqual([]);
    expect(brokenRules(taking(2_700, [{ from: 31_000, to: 31_199 }]))).toEqual(['recovery']);
    // A server that wrote nothing by itself is not the service's doing.
    const held = (to: number) => withServerStalls(taking(4_000), { from: 30_500, to });
    expect(check(held(32_000))).toEqual([]);
    expect(brokenRules(held(31_999))).toEqual(['recovery']);
  });
});
