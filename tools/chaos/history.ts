/**
 * The record of a chaos run: every request of every caller with its answer, and every fault. All times are
 * milliseconds of the harness' monotonic clock.
 */
import type { OperationName } from '../../src/domain/operation';

/** One try of one operation: a signed request and its end. */
export interface PushAttempt {
  /** Number of the operation. All tries of one operation have the same number, body and key. */
  readonly operation: number;
  /** The client that signed. */
  readonly clientId: string;
  readonly systemCode: string;
  /** The web process that received it. */
  readonly web: string;
  readonly name: OperationName;
  /** As sent. */
  readonly body: string;
  /** Its own, or derived from the key of the batch. */
  readonly idempotencyKey?: string;
  /** Absent for a single push. */
  readonly batch?: LinePlace;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly end: AttemptEnd;
}

/** The position of a try that was a line of a batch. */
export interface LinePlace {
  /** The number of the request, see BatchTry. */
  readonly request: number;
  /** 1-based. */
  readonly line: number;
}

/** One request with a batch. The results of its lines are in their attempts. */
export interface BatchTry {
  /** Unique in the run. */
  readonly request: number;
  /** Number of lines. */
  readonly lines: number;
  /** Absent without an answer, and for an answer without results (see AnsweredAttempt.ofBatch). */
  readonly answer?: BatchAnswer;
}

/** The envelope of an answer with a result for each line. */
export interface BatchAnswer {
  readonly status: number;
  readonly code: number;
  readonly reason?: string;
  readonly requestId: string;
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The line numbers of the results, in the order of the answer. */
  readonly lineNumbers: readonly number[];
}

export type AttemptEnd =
  | AnsweredAttempt
  /** Connection refused: the request was never sent. */
  | { readonly kind: 'refused' }
  /** The connection broke before an answer: the result is unknown. */
  | { readonly kind: 'lost'; readonly why: string }
  /** The caller disconnected: the result is unknown. */
  | { readonly kind: 'left' }
  /** No answer within the timeout of the harness, which is far beyond every deadline. */
  | { readonly kind: 'hung' };

export const isAccepted = (end: AttemptEnd): end is AnsweredAttempt =>
  end.kind === 'answered' && end.code === 0;

/** Whether the result of the request is unknown. */
export const isUnknown = ({ kind }: AttemptEnd): boolean =>
  kind === 'lost' || kind === 'left' || kind === 'hung';

export interface AnsweredAttempt {
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
  /** It is the answer to the whole batch, which was rejected before its lines were read. */
  readonly ofBatch?: true;
}

export const FAULT_KINDS = [
  /** SIGKILL of one process, which is restarted later. */
  'kill-web',
  'kill-worker',
  /** SIGSTOP, then SIGCONT, of one process; usually for longer than the lock duration. */
  'stop-web',
  'stop-worker',
  /** SIGTERM, drain, and a new process, as in an upgrade. */
  'restart-web',
  'restart-worker',
  /** SIGTERM, and a new process much later: the pool shrinks and grows. */
  'leave-worker',
  /** Redis is emptied after a worker has read a batch and before it has loaded the matters. */
  'outrun-worker',
  /** One process alone loses one server: its proxy forwards nothing, or refuses connections. */
  'drop-mongo-web',
  'refuse-mongo-web',
  'drop-redis-web',
  'refuse-redis-web',
  'drop-mongo-worker',
  'refuse-mongo-worker',
  'drop-redis-worker',
  'refuse-redis-worker',
  /** SIGKILL of the server, which is restarted with its data. */
  'restart-redis',
  'flush-redis',
  'restart-mongo',
  /** Between the processes and a server: delayed data, no data, connections that are reset, cut inside a command, or
   * silently forgotten. */
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
  /**
   * The primary of the replica set: SIGKILL; SIGSTOP, usually until another one is elected; a step-down; no
   * replication of its writes, then SIGKILL.
   */
  'kill-primary',
  'stop-primary',
  'stepdown-primary',
  'orphan-primary',
  /** One of its secondaries: SIGSTOP; no replication, while it answers. */
  'stop-secondary',
  'lag-secondary',
  /** The database rejects killSessions, as some hosted servers do. */
  'reject-sessions',
  /**
   * The other Redis becomes the primary, without the last writes of the old one. Connections stay with the old one,
   * which becomes a replica, or are reset.
   */
  'failover-redis',
  'switch-redis',
  /** Redis has almost no free memory. */
  'fill-redis',
] as const;

/**
 * Faults of a Sentinel group or a Cluster: SIGKILL or SIGSTOP of a primary, usually until a replica has taken over; a
 * manual failover.
 */
export const GROUP_FAULT_KINDS = ['kill-group', 'stop-group', 'switch-group'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number] | (typeof GROUP_FAULT_KINDS)[number];

/** The kinds that are possible with a group, which has no proxy for all processes. */
export const KINDS_OF_GROUP: readonly FaultKind[] = [
  ...FAULT_KINDS.filter(
    (kind) => !kind.endsWith('-redis') || kind === 'restart-redis' || kind === 'flush-redis',
  ),
  ...GROUP_FAULT_KINDS,
];

/** Whether the fault needs a second Redis behind one address, or a replica set of three members. */
export const needsFailOver = (kind: FaultKind): boolean =>
  /-(primary|secondary)$|^(failover|switch)-redis$/.test(kind);

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A fault as it was carried out. It ends when it is undone: the process serves again, or the connections work. */
export interface Fault extends Span {
  readonly kind: FaultKind;
  /** `web-0`, `worker-1`, `redis`, `mongo`, `secondary`, `sessions`. */
  readonly target: string;
}

export interface ChaosHistory {
  /** PUSH_TIMEOUT of the processes, milliseconds. */
  readonly pushTimeout: number;
  /** BATCH_TIMEOUT of the processes, milliseconds. */
  readonly batchTimeout: number;
  readonly attempts: readonly PushAttempt[];
  readonly batches: readonly BatchTry[];
  readonly faults: readonly Fault[];
  /** When the harness itself stalled: times that it measured then are its own delays. */
  readonly stalls: readonly Span[];
  /** When a server stalled without a fault: see watches.ts. */
  readonly serverStalls: readonly Span[];
  /** When the replica set elected a primary. */
  readonly elections: readonly number[];
  /** Milliseconds by which the clock of each process was wrong; negative: slow. */
  readonly clockShifts: ReadonlyMap<string, number>;
}
