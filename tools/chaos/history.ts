/**
 * What a chaos run has seen: every request of every caller with its answer, and every fault. All
 * times are milliseconds of the harness' own monotonic clock.
 */
import type { OperationName } from '../../src/domain/operation';

/** One try of one operation: a signed request, and what came back. */
export interface Attempt {
  /** The operation that it tries; all tries of one operation share it, their body and their key. */
  readonly operation: number;
  /** The client that signed. */
  readonly clientId: string;
  readonly systemCode: string;
  /** Which web process it was sent to. */
  readonly web: string;
  readonly name: OperationName;
  /** As sent. */
  readonly body: string;
  /** Its own, or the one that a line has from its batch. */
  readonly idempotencyKey?: string;
  /** Absent: it was a request of its own. */
  readonly batch?: LinePlace;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly end: AttemptEnd;
}

/** Where a try stood that was a line of a batch. */
export interface LinePlace {
  /** The number of the request, see BatchTry. */
  readonly request: number;
  /** 1-based. */
  readonly line: number;
}

/** One request with a batch; what became of its lines is in their attempts. */
export interface BatchTry {
  /** Unique in the run. */
  readonly request: number;
  /** How many it had. */
  readonly lines: number;
  /** Absent: no answer, or one without results, see Answered.ofBatch. */
  readonly answer?: BatchAnswer;
}

/** The envelope of a batch that was answered line by line. */
export interface BatchAnswer {
  readonly status: number;
  readonly code: number;
  readonly reason?: string;
  readonly requestId: string;
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The line numbers of the results, as they came. */
  readonly lineNumbers: readonly number[];
}

export type AttemptEnd =
  | Answered
  /** Nobody listened: the request was never sent. */
  | { readonly kind: 'refused' }
  /** The connection broke before an answer: nobody knows what became of the request. */
  | { readonly kind: 'lost'; readonly why: string }
  /** The caller itself broke off: nobody knows either. */
  | { readonly kind: 'left' }
  /** No answer within the harness' own patience, far beyond every deadline. */
  | { readonly kind: 'hung' };

/** Ends of requests of which nobody knows what became. */
export const isUnknown = ({ kind }: AttemptEnd): boolean =>
  kind === 'lost' || kind === 'left' || kind === 'hung';

export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly code: number;
  readonly reason?: string;
  readonly requestId: string;
  readonly externalId?: string;
  readonly outcome?: string;
  readonly matterId?: string;
  /** The header Idempotency-Replayed; of a line, its field `replayed`. */
  readonly replayed: boolean;
  /** It is the answer to the whole batch, rejected before any of its lines was looked at. */
  readonly ofBatch?: true;
}

export const FAULT_KINDS = [
  /** SIGKILL of one process, which is started again after a while. */
  'kill-web',
  'kill-worker',
  /** SIGSTOP, then SIGCONT, of one process; mostly past the lock time. */
  'stop-web',
  'stop-worker',
  /** SIGTERM, a drain, and a new process, as in an upgrade. */
  'restart-web',
  'restart-worker',
  /** SIGTERM, and the process stays away for a while: the pool shrinks and grows. */
  'leave-worker',
  /** Redis is emptied while a worker has read a batch whose load from the database is late. */
  'outrun-worker',
  /** One process alone loses one server for a while: nothing is forwarded, or connections are refused. */
  'drop-mongo-web',
  'refuse-mongo-web',
  'drop-redis-web',
  'refuse-redis-web',
  'drop-mongo-worker',
  'refuse-mongo-worker',
  'drop-redis-worker',
  'refuse-redis-worker',
  /** The queue goes over to another number of partitions. */
  'change-partitions',
  /** SIGKILL of the server, which is started again on its data. */
  'restart-redis',
  'flush-redis',
  'restart-mongo',
  /** On the way to a server, for a while: every chunk late, nothing forwarded, connections reset,
   * connections cut in the middle of a command, or connections forgotten without a word. */
  'delay-redis',
  'drop-redis',
  'reset-redis',
  'cut-redis',
  'strand-redis',
  'delay-mongo',
  'drop-mongo',
  'reset-mongo',
  'cut-mongo',
  'strand-mongo',
  /** Of the replica set's primary: SIGKILL; SIGSTOP, mostly until another one is elected; a step-down;
   * nobody takes its writes over for a while, and then it is killed. */
  'kill-primary',
  'stop-primary',
  'stepdown-primary',
  'orphan-primary',
  /** Of one of its secondaries: SIGSTOP; for a while it takes nothing over, but answers. */
  'stop-secondary',
  'lag-secondary',
  /** The database rejects killSessions for a while, as servers for hire do. */
  'reject-sessions',
  /** The other Redis becomes the primary, without what the old one took last; connections stay with the
   * old one, which follows it, or are reset. */
  'failover-redis',
  'switch-redis',
  /** Redis has no more memory than it uses, or a little more, for a while. */
  'fill-redis',
] as const;

/**
 * Of a Sentinel group or a Cluster in place of one address: SIGKILL or SIGSTOP of a primary, mostly until
 * a replica has taken over; and an operator has a replica take over.
 */
export const GROUP_FAULT_KINDS = ['kill-group', 'stop-group', 'switch-group'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number] | (typeof GROUP_FAULT_KINDS)[number];

/** Those that are possible where Redis is no single address: nothing stands on the way to a group. */
export const KINDS_OF_GROUP: readonly FaultKind[] = [
  ...FAULT_KINDS.filter(
    (kind) => !kind.endsWith('-redis') || kind === 'restart-redis' || kind === 'flush-redis',
  ),
  ...GROUP_FAULT_KINDS,
];

/** Whether it takes a second Redis behind one address, or a replica set of three; a group has servers enough. */
export const needsFailOver = (kind: FaultKind): boolean =>
  /-(primary|secondary)$|^(failover|switch)-redis$/.test(kind);

export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * A fault as it was carried out. It ends when it is undone: the process serves again, the way is
 * free.
 */
export interface Fault extends Span {
  readonly kind: FaultKind;
  /** `web-0`, `worker-1`, `redis`, `mongo`, `secondary`, `sessions`. */
  readonly target: string;
}

export interface History {
  /** PUSH_TIMEOUT of the processes, milliseconds. */
  readonly pushTimeout: number;
  /** BATCH_TIMEOUT of the processes, milliseconds. */
  readonly batchTimeout: number;
  readonly attempts: readonly Attempt[];
  readonly batches: readonly BatchTry[];
  readonly faults: readonly Fault[];
  /** When the harness itself stood still: what it saw of times then is its own lateness. */
  readonly stalls: readonly Span[];
  /** When a server stood still by itself: see watches.ts. */
  readonly serverStalls: readonly Span[];
  /** When the replica set elected a primary. */
  readonly elections: readonly number[];
  /** Milliseconds by which the clocks of processes were wrong, by name; below zero: slow. */
  readonly clockShifts: ReadonlyMap<string, number>;
}
