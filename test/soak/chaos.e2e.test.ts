/** Nothing is lost, whatever dies: a short run with a fixed seed keeps every promise. */
import {
  FAULT_KINDS,
  type FaultKind,
  GROUP_FAULT_KINDS,
  needsFailOver,
} from '../../tools/chaos/history';
import { type ChaosOptions, runChaos } from '../../tools/chaos/run';
import { CROWD, untilTestEnds } from '../support/chaos-crowd';

const within = untilTestEnds();

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
      seed: '257',
      mix: { kinds: [...FAIL_OVER, 'kill-worker'], pace: 2 },
      skew: 240_000,
      duration: 38_000,
    },
  ],
  [
    'where a Sentinel group fails over',
    { seed: '86', mix: { kinds: OF_GROUP, pace: 2 }, redisForm: 'sentinel', duration: 22_000 },
  ],
  [
    'where primaries of a Cluster fail over',
    { seed: '86', mix: { kinds: OF_GROUP, pace: 2 }, redisForm: 'cluster', duration: 22_000 },
  ],
];

const HONEST_LIMIT = 900_000;
test.each(HONEST)(
  '%s no promise is broken, and everything recovers by itself',
  async (_where, how) => {
    const say = (text: string) => text.startsWith('The logs') && process.stderr.write(`${text}\n`);
    const options = { ...CROWD, ...how, say };
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
