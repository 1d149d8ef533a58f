/** Follows the log: what is new in it, what of that was told already, and a poll that waits for servers that are away. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../src/concurrency/clock';
import type { LogState } from '../../../src/protocol/log-states';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import { firstIdAt, receivedAtOf } from '../../../src/storage/push-log/request-id';
import { backoff } from '../../client/backoff';
import { MatterPushError } from '../../client/error';
import { isOfDatabase } from '../failure';
import { note } from '../print';
import type { LogSource, ShownEntry } from '../source/sources';
import type { Tool } from '../tool';

/** Milliseconds between polls. */
const INTERVAL = 1_000;

/**
 * Polls until it is stopped; a server that is away for a while is told once and waited for.
 *
 * @param interval milliseconds between polls
 * @throws what `poll` throws, but for failures of the database or the service that pass
 */
export async function keepPolling(
  poll: () => Promise<void>,
  stderr: Tool['stderr'],
  stop: AbortSignal,
  interval = INTERVAL,
): Promise<void> {
  let failures = 0;
  let away = 'database';
  while (!stop.aborted) {
    try {
      await poll();
      if (failures > 0) note(stderr, `The ${away} is back.`);
      failures = 0;
    } catch (error) {
      if (stop.aborted || !(await isAway(error))) throw error;
      away = error instanceof MatterPushError ? 'service' : 'database';
      if (failures === 0) note(stderr, `The ${away} is away: ${(error as Error).message}`);
      failures += 1;
    }
    const wait = failures === 0 ? interval : backoff(failures);
    // Rejects only when stopped, and then the loop ends.
    await sleep(wait, undefined, { signal: stop }).catch(() => undefined);
  }
}

async function isAway(error: unknown): Promise<boolean> {
  if (error instanceof MatterPushError) return error.retryable;
  if (isOfDatabase(error)) return true;
  const { isSocketError } = await import('../../../src/storage/driver-errors.js');
  return isSocketError(error);
}

export interface PollDependencies {
  readonly source: Pick<LogSource, 'page' | 'all'>;
  readonly filter: LogFilter;
  readonly watch: Watch;
  readonly clock: Clock;
}

/** Milliseconds that are read again. */
const TRAIL = 30_000;

/**
 * Reads what is new in the log. An entry becomes visible later than its id says (it is recorded
 * after the id was made, and settled later still), so the last seconds are read again each time.
 */
export class Poll {
  readonly #source: PollDependencies['source'];
  readonly #filter: LogFilter;
  readonly #watch: Watch;
  readonly #clock: Clock;
  /** Where reading begins, epoch milliseconds; undefined while the log is empty. */
  #from: number | undefined;
  #next: number | undefined;

  constructor({ source, filter, watch, clock }: PollDependencies) {
    this.#source = source;
    this.#filter = filter;
    this.#watch = watch;
    this.#clock = clock;
  }

  /** Gives the entries that are to be told now; those that it gave last may come again until told. */
  async *due(): AsyncGenerator<ShownEntry> {
    const last = await this.#newest();
    if (last === undefined) return;
    // Neither our clock nor one of theirs may move the window past what is still to come.
    this.#next = Math.min(last, this.#clock()) - TRAIL;
    const begin = Math.max(this.#from ?? this.#next, this.#filter.from ?? 0);
    yield* this.#late(begin);
    const window = { ...this.#filter, from: begin, to: last + 1 };
    for await (const entry of this.#source.all(window, { oldestFirst: true })) {
      if (this.#isDue(entry)) yield entry;
    }
  }

  /** After all of `due` was told: the next poll begins later. */
  advance(): void {
    if (this.#next === undefined) return;
    this.#from = Math.max(this.#from ?? this.#next, this.#next);
    this.#watch.forget(firstIdAt(this.#from));
  }

  /** When the newest entry was received, by the clocks of the service. */
  async #newest(): Promise<number | undefined> {
    const { entries } = await this.#source.page({}, { limit: 1 });
    return entries[0] && receivedAtOf(entries[0].requestId);
  }

  /** Those that are still queued although they have left the window. */
  async *#late(begin: number): AsyncGenerator<ShownEntry> {
    for (const id of this.#watch.unsettled(firstIdAt(begin))) {
      const one = { ...this.#filter, requestId: id };
      const [entry] = (await this.#source.page(one, { limit: 1 })).entries;
      if (!entry) this.#watch.drop(id);
      else if (this.#isDue(entry)) yield entry;
    }
  }

  #isDue({ requestId, state }: ShownEntry): boolean {
    return this.#watch.isDue(requestId, state, this.#clock());
  }
}

/** How long a push may be queued before that is told, in milliseconds. */
const TELL_AFTER = 3_000;
/** Unsettled entries out of the window that are still looked after. */
const MAX_UNSETTLED = 100;

/**
 * What of the log was told already. An entry is seen again and again while it is young: it is told
 * once it is settled; and before that too, where it stays queued for long.
 */
export class Watch {
  readonly #settled = new Set<string>();
  readonly #queued = new Map<string, { readonly since: number; readonly isTold: boolean }>();

  /** Whether an entry that was read has to be told now. */
  isDue(id: string, state: LogState, now: number): boolean {
    if (state !== 'QUEUED') return !this.#settled.has(id);
    // By our own clock since we saw it: that of the service may be another.
    const seen = this.#queued.get(id);
    if (!seen) this.#queued.set(id, { since: now, isTold: false });
    return seen !== undefined && !seen.isTold && now - seen.since >= TELL_AFTER;
  }

  /** It was told. */
  told(id: string, state: LogState, now: number): void {
    if (state === 'QUEUED') {
      this.#queued.set(id, { since: this.#queued.get(id)?.since ?? now, isTold: true });
    } else {
      this.#queued.delete(id);
      this.#settled.add(id);
    }
  }

  /** Forgets the settled ones below an id: they are not read any more. */
  forget(below: string): void {
    for (const id of this.#settled) if (id < below) this.#settled.delete(id);
    for (const id of this.unsettled(below).slice(0, -MAX_UNSETTLED)) this.#queued.delete(id);
  }

  /** Those below an id that were queued when they were seen last. */
  unsettled(below: string): readonly string[] {
    return [...this.#queued.keys()].filter((id) => id < below).sort();
  }

  /** It is gone, or no longer what is asked for. */
  drop(id: string): void {
    this.#queued.delete(id);
  }
}
