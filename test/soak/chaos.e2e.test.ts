/**
 * Nothing is lost, whatever dies: a short run with a fixed seed keeps every promise; and without
 * any one of the mechanisms that carry them, the same check finds what is broken.
 */
import type { Violation } from '../../tools/chaos/check/evidence';
import {
  FAULT_KINDS,
  type FaultKind,
  GROUP_FAULT_KINDS,
  needsFailOver,
} from '../../tools/chaos/history';
import { MECHANISMS, type Mechanism } from '../../tools/chaos/mechanisms';
import { type ChaosOptions, runChaos } from '../../tools/chaos/run';
import { projectRoot } from '../../tools/local/project';

const base: Omit<ChaosOptions, 'duration' | 'seed'> = {
  root: projectRoot(),
  callers: 16,
  webs: 2,
  workers: 3,
  say: () => undefined,
};

let ended: AbortController;
beforeEach(() => {
  ended = new AbortController();
});
afterEach(() => {
  ended.abort();
});
/** Milliseconds in which a run that is given up ends its processes. */
const CLEARING = 30_000;
/** @returns a signal that leaves no process to a test that is over */
const within = (limit: number) =>
  AbortSignal.any([ended.signal, AbortSignal.timeout(limit - CLEARING)]);

/**
 * How long things took depends on the machine that the tests share with others; `npm run chaos` holds
 * the service to it. That everything recovers shows here by what is left behind.
 */
const OF_TIME = ['answered-in-time', 'recovery', 'served', 'measurable'];

const FAIL_OVER: readonly FaultKind[] = FAULT_KINDS.filter(needsFailOver);
/** Of a Sentinel group or a Cluster, and of those who work meanwhile. */
const OF_GROUP: readonly FaultKind[] = [...GROUP_FAULT_KINDS, 'kill-worker', 'leave-worker'];

type How = Pick<ChaosOptions, 'seed' | 'mix' | 'skew' | 'redisForm' | 'duration'>;
/** The plan of each seed has every kind. */
const HONEST: readonly [string, How][] = [
  [
    'under faults of every kind',
    {
      seed: '57525',
      mix: { kinds: FAULT_KINDS.filter((kind) => !needsFailOver(kind)), pace: 2 },
      duration: 45_000,
    },
  ],
  [
    'where servers fail over, and clocks are wrong',
    {
      seed: '40',
      mix: { kinds: [...FAIL_OVER, 'kill-worker'], pace: 2 },
      skew: 240_000,
      duration: 45_000,
    },
  ],
  [
    'where a Sentinel group fails over',
    { seed: '956', mix: { kinds: OF_GROUP, pace: 2 }, redisForm: 'sentinel', duration: 26_000 },
  ],
  [
    'where primaries of a Cluster fail over',
    { seed: '1698', mix: { kinds: OF_GROUP, pace: 2 }, redisForm: 'cluster', duration: 26_000 },
  ],
];

const HONEST_LIMIT = 900_000;
test.each(HONEST)(
  '%s no promise is broken, and everything recovers by itself',
  async (_where, how) => {
    const say = (text: string) => text.startsWith('The logs') && process.stderr.write(`${text}\n`);
    const options = { ...base, ...how, say };
    const result = await runChaos({ ...options, signal: within(HONEST_LIMIT) });
    expect(result.violations.filter(({ rule }) => !OF_TIME.includes(rule))).toEqual([]);
    expect(result.crashes).toEqual([]);
    const kinds = new Set(result.history.faults.map(({ kind }) => kind));
    expect(how.mix?.kinds.filter((kind) => !kinds.has(kind))).toEqual([]);
    const accepted = result.history.attempts.filter(
      ({ end }) => end.kind === 'answered' && end.code === 0,
    );
    expect(accepted.length).toBeGreaterThan(100);
  },
  HONEST_LIMIT,
);

const isPartitionLeft = ({ rule, what }: Violation) =>
  rule === 'leftover' && what.includes(':partition:');
const isOf =
  (...rules: readonly Violation['rule'][]) =>
  ({ rule }: Violation) =>
    rules.includes(rule);

/** What shows that a mechanism is gone. */
const FOUND: Readonly<Record<Mechanism, (violation: Violation) => boolean>> = {
  'revision-guard': isOf('revisions', 'phantom', 'fold'),
  'keep-last-if-active': isPartitionLeft,
  sweep: isPartitionLeft,
  deadline: isOf('late-effect'),
  'confirmed-write': isOf('acknowledged'),
  majority: isOf('acknowledged'),
  idempotency: isOf('one-effect'),
  'line-order': isOf('batch-order'),
};

/** A fault meets the processes as chance has it: what is gone may take more than one run to show. */
const SPELLS = [1, 2, 3];
/**
 * To be found out, a worker has to be stopped within a partition job: with few callers it mostly has
 * none.
 */
const CROWDS: Partial<Record<Mechanism, number>> = { 'revision-guard': 64 };
/** Milliseconds of a run: a primary's death and the next one's election take their time. */
const DURATION = 14_000;
const DURATIONS: Partial<Record<Mechanism, number>> = { majority: 30_000 };
const BREAK_LIMIT = 270_000;
test.each(Object.keys(MECHANISMS) as Mechanism[])(
  'without %s the check reports a violation',
  async (broken) => {
    const signal = within(BREAK_LIMIT);
    const others = new Set<Violation['rule']>();
    for (const spell of SPELLS) {
      const seed = `a fixed one/${spell}`;
      const callers = CROWDS[broken] ?? base.callers;
      const duration = DURATIONS[broken] ?? DURATION;
      const options = { ...base, seed, callers, duration, broken, signal };
      const { violations } = await runChaos(options);
      if (violations.some(FOUND[broken])) return;
      for (const { rule } of violations) others.add(rule);
    }
    throw new Error(`not found out; seen instead: ${[...others].join(', ') || 'nothing'}`);
  },
  BREAK_LIMIT,
);
