/**
 * The mechanisms that `--break` removes. If two of them protect one promise, breaks.ts removes both, because either one
 * alone hides the loss of the other.
 */
import type { Rule, Violation } from './check/evidence';

interface Breakable {
  readonly purpose: string;
  /** Each of these rules shows that the mechanism is gone. */
  readonly reportedAs: readonly Rule[];
  /** Only servers that fail over show it. */
  readonly failOver?: boolean;
  /** Settings of the processes. */
  readonly env?: Readonly<Record<string, string>>;
}

/** breaks.ts and directed-plans.ts use the same names. */
export const MECHANISMS = {
  'revision-guard': {
    purpose: 'a worker that was stopped during a batch does not overwrite later changes',
    reportedAs: ['revisions', 'phantom', 'fold'],
  },
  'keep-last-if-active': {
    purpose: 'a partition job that is scheduled while another one is active follows it',
    reportedAs: ['leftover'],
  },
  sweep: {
    purpose: 'a partition whose job was lost gets another one',
    reportedAs: ['leftover'],
  },
  deadline: {
    purpose: 'a push past its deadline is not applied',
    reportedAs: ['late-effect'],
    env: { PUSH_TIMEOUT: '1s' },
  },
  'confirmed-write': {
    purpose: 'the service answers code 0 after the commit',
    reportedAs: ['acknowledged'],
  },
  majority: {
    purpose:
      'the service answers code 0 after a majority of the replica set has the write in its journal',
    reportedAs: ['acknowledged'],
    failOver: true,
    env: { PUSH_TIMEOUT: '5s' },
  },
  idempotency: {
    purpose: 'a retry repeats the outcome of the first try',
    reportedAs: ['one-effect'],
  },
  ownership: {
    purpose: 'a worker that has lost its partitions does not commit a batch that it read from them',
    reportedAs: ['queue-order'],
  },
  'line-order': {
    purpose: 'lines of a batch for the same matter take effect in their order',
    reportedAs: ['batch-order'],
  },
} as const satisfies Readonly<Record<string, Breakable>>;

export type Mechanism = keyof typeof MECHANISMS;

export const isMechanism = (name: string): name is Mechanism => Object.hasOwn(MECHANISMS, name);

export const breakableOf = (mechanism: Mechanism): Breakable => MECHANISMS[mechanism];

/**
 * Whether a violation shows that the mechanism is gone. A leftover counts only if it is a partition, which contains
 * pushes.
 */
export function isEvidence(mechanism: Mechanism, { rule, what }: Violation): boolean {
  const isPartition = rule !== 'leftover' || what.includes(':partition:');
  return isPartition && breakableOf(mechanism).reportedAs.includes(rule);
}
