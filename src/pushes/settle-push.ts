/**
 * From a recorded push to its final state: puts it into its partition, waits for the worker's reply, and
 * finalizes it in the push log where no reply comes. It always resolves, at most FINALIZE_GRACE_MS
 * after the deadline.
 */
import type { Clock } from '../concurrency/clock';
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import type { Enqueued, GroupQueue } from '../queue/group-queue';
import type { QueuedPush } from '../queue/push';
import type { ReplyInbox } from '../queue/replies';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import type { LogLookups } from '../storage/push-log/lookups';
import type { Settlement } from '../storage/push-log/settlement';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';
import type { PushFinalizer } from './finalize-push';

export interface SettleDependencies {
  readonly queue: GroupQueue;
  readonly inbox: ReplyInbox<Settlement>;
  readonly finalizer: PushFinalizer;
  readonly ingressId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * @param pushes recorded in the push log as QUEUED
 * @param deadline epoch milliseconds: how long their caller waits
 * @param tell hears of each that is settled by then, as it comes
 * @returns their final states; undefined where the database is away at that moment
 */
export type SettlePushes = (
  pushes: readonly UnsentPush[],
  deadline: number,
  tell?: (settlement: Settlement) => void,
) => Promise<(Settlement | undefined)[]>;
/** The same of one. */
export type SettlePush = (push: UnsentPush, deadline: number) => Promise<Settlement | undefined>;
export type UnsentPush = Omit<QueuedPush, 'replyTo'>;

/** Milliseconds after the caller's deadline in which the push log may confirm the final state. */
const FINALIZE_GRACE_MS = 300;

export function createSettlePush(deps: SettleDependencies): SettlePush {
  const settle = createSettlePushes(deps);
  return async (push, deadline) => (await settle([push], deadline))[0];
}

export function createSettlePushes(deps: SettleDependencies): SettlePushes {
  const { inbox, clock } = deps;
  return async (pushes, deadline, tell) => {
    const ids = pushes.map(({ id }) => id);
    const replies = inbox.wait(ids, Math.max(0, deadline - clock()), tell);
    void enqueue(deps, pushes, deadline);
    const settlements = await replies;
    return settlements.every(Boolean) ? settlements : expire(deps, ids, settlements, deadline);
  };
}

/** At the deadline: from here on a push is not applied any more, or it was. */
function expire(
  { finalizer }: SettleDependencies,
  ids: readonly string[],
  settlements: readonly (Settlement | undefined)[],
  deadline: number,
): Promise<(Settlement | undefined)[]> {
  const until = deadline + FINALIZE_GRACE_MS;
  const settlement = { state: 'EXPIRED' } as const;
  return Promise.all(
    ids.map((id, index) => settlements[index] ?? finalizer.finalize({ id, settlement }, until)),
  );
}

/** Puts pushes into their partitions. Those that are not queued, or perhaps not, are finalized. Never rejects. */
async function enqueue(
  deps: SettleDependencies,
  pushes: readonly UnsentPush[],
  deadline: number,
): Promise<void> {
  const { queue, clock, ingressId, logger } = deps;
  const sent = pushes.map((push) => ({ replyTo: ingressId, ...push }));
  const enqueued = await queue.enqueue(sent, deadline - clock());
  let unknown = 0;
  for (const [index, { id }] of pushes.entries()) {
    const how = enqueued[index];
    if (how === 'APPENDED') continue;
    void finalizeUnqueued(deps, id, how, deadline);
    if (!(how instanceof Error)) continue;
    unknown += 1;
    if (unknown > 1) continue;
    const details = { requestId: id, error: String(how) };
    foldedLog(logger)({ level: 'warn', text: 'not queued', dueTo: ['redis'] }, details);
  }
}

/**
 * Once the push is finalized here it can take no effect in its partition; or a worker settled it first, and
 * then the worker's settlement counts. A limit that rejects it for certain, Redis' memory too, comes as a
 * value: then it is told even where the database is away. Where the queue did not answer, the push may be in
 * its partition all the same: a rejection would be a guess.
 */
async function finalizeUnqueued(
  { finalizer, inbox, clock }: SettleDependencies,
  id: string,
  how: Exclude<Enqueued, 'APPENDED'> | undefined,
  deadline: number,
): Promise<void> {
  const isCertain = typeof how === 'string';
  const reason = isCertain ? how : 'QUEUE_UNAVAILABLE';
  const settlement = { state: 'REFUSED', reason } as const;
  const until = (isCertain ? clock() : deadline) + FINALIZE_GRACE_MS;
  const finalState = await finalizer.finalize({ id, settlement }, until);
  if (finalState ?? isCertain) inbox.deliver(id, finalState ?? settlement);
}

/**
 * Finalizes all pushes that wait for a reply: the queue is out of reach, so none arrives. A push that a worker settled
 * first keeps its settlement. One that the database does not confirm now goes on waiting.
 */
export async function endWaiting({
  inbox,
  finalizer,
  clock,
}: Pick<SettleDependencies, 'inbox' | 'finalizer' | 'clock'>): Promise<void> {
  const settlement = { state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' } as const;
  const until = clock() + FINALIZE_GRACE_MS;
  await Promise.all(
    inbox.overdue(0).map(async (id) => {
      const finalState = await finalizer.finalize({ id, settlement }, until);
      if (finalState) inbox.deliver(id, finalState);
    }),
  );
}

/** Milliseconds between two looks for lost replies. */
const LOOK_EVERY = 400;
/** A push that waits longer, in milliseconds, is looked up. */
const SUSPICIOUS_AGE = 1_000;
const MAX_LOOKUPS = 1_000;

export interface LostReplyDependencies {
  readonly inbox: ReplyInbox<Settlement>;
  readonly lookups: Pick<LogLookups, 'settlements'>;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

/**
 * Replies can be lost (a Redis restart, a worker that died after its commit). Pushes that have waited a
 * while are looked up in the push log, which knows.
 */
export function watchLostReplies(deps: LostReplyDependencies): PollLoop {
  return startPollLoop(
    () => lookUpOverdue(deps),
    LOOK_EVERY,
    (error) => {
      const text = 'lookup of overdue pushes failed, tried again soon';
      deps.logger.debug({ error: String(error) }, text);
    },
  );
}

async function lookUpOverdue(deps: LostReplyDependencies): Promise<void> {
  const { inbox, lookups, metrics = NO_METRICS } = deps;
  const overdue = inbox.overdue(SUSPICIOUS_AGE);
  if (overdue.length === 0) return;
  // Some at random where there are too many: those at the front may all be waiting rightly.
  const from = Math.floor(Math.random() * Math.max(0, overdue.length - MAX_LOOKUPS + 1));
  const ids = overdue.slice(from, from + MAX_LOOKUPS);
  for (const [id, settlement] of await lookups.settlements(ids)) {
    if (!settlement) continue;
    const waiting = inbox.size;
    inbox.deliver(id, settlement);
    // Where nobody waits any more the reply has come meanwhile.
    if (inbox.size < waiting) metrics.replyLost();
  }
}
