/**
 * The mechanisms that can be broken on purpose, each with the faults that need it. Where two carry one
 * promise, breaks.ts takes both away: either alone would go unnoticed, which is what it is for.
 */
import type { FaultKind } from './history';

export interface Breakable {
  /** What it is for. */
  readonly carries: string;
  /** Faults that show that it is gone. */
  readonly faults: readonly FaultKind[];
  readonly pace: number;
  /** What it costs to be without it shows only once the faults are over. */
  readonly showsInCalm?: boolean;
  /** Settings of the processes. */
  readonly env?: Readonly<Record<string, string>>;
}

/** By the name of what takes it away in breaks.ts. */
export const MECHANISMS = {
  'revision-guard': {
    carries: 'a worker that was stopped in its job does not overwrite what came after it',
    faults: ['stop-worker', 'delay-mongo'],
    pace: 4,
  },
  'keep-last-if-active': {
    carries: 'a partition job that is due while another one is active follows it',
    faults: ['stop-worker'],
    pace: 1,
    showsInCalm: true,
    env: { PUSH_TIMEOUT: '2s' },
  },
  sweep: {
    carries: 'a partition whose job was lost gets another one',
    faults: ['reset-mongo', 'restart-mongo', 'cut-redis'],
    pace: 3,
    showsInCalm: true,
    env: { PUSH_TIMEOUT: '2s' },
  },
  deadline: {
    carries: 'what nobody waits for any more is not applied',
    faults: ['stop-worker', 'kill-worker'],
    pace: 2,
    env: { PUSH_TIMEOUT: '1s' },
  },
  'confirmed-write': {
    carries: 'code 0 is said after the commit',
    faults: ['kill-worker', 'restart-mongo'],
    pace: 3,
  },
  majority: {
    carries: 'code 0 is said after a majority of the replica set has it, in the journal',
    faults: ['orphan-primary'],
    pace: 3,
  },
  idempotency: {
    carries: 'a retry repeats the outcome of its first try',
    faults: ['kill-web', 'reset-redis'],
    pace: 3,
  },
  ownership: {
    carries: 'a worker that lost its partitions does not decide about what it has read of them',
    faults: ['outrun-worker'],
    pace: 4,
  },
  'line-order': {
    carries: 'lines of a batch about one matter take effect in their order',
    faults: ['kill-worker'],
    pace: 1,
  },
} as const satisfies Readonly<Record<string, Breakable>>;

export type Mechanism = keyof typeof MECHANISMS;

export const isMechanism = (name: string): name is Mechanism => Object.hasOwn(MECHANISMS, name);
