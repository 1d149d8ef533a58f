/** Without any one of the mechanisms that carry the promises, the check of a chaos run finds what is broken. */
import type { Violation } from '../../tools/chaos/check/evidence';
import { MECHANISMS, type Mechanism } from '../../tools/chaos/mechanisms';
import { runChaos } from '../../tools/chaos/run';
import { CROWD, untilTestEnds } from '../support/chaos-crowd';

const within = untilTestEnds();

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
  ownership: isOf('queue-order'),
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
const BREAK_LIMIT = 900_000;
test.each(Object.keys(MECHANISMS) as Mechanism[])(
  'without %s the check reports a violation',
  async (broken) => {
    const signal = within(BREAK_LIMIT);
    const others = new Set<Violation['rule']>();
    for (const spell of SPELLS) {
      const seed = `a fixed one/${spell}`;
      const callers = CROWDS[broken] ?? CROWD.callers;
      const duration = DURATIONS[broken] ?? DURATION;
      const options = { ...CROWD, seed, callers, duration, broken, signal };
      const { violations } = await runChaos(options);
      if (violations.some(FOUND[broken])) return;
      for (const { rule } of violations) others.add(rule);
    }
    throw new Error(`not found out; seen instead: ${[...others].join(', ') || 'nothing'}`);
  },
  BREAK_LIMIT,
);
