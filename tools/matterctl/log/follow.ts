/**
 * Follows the push log: finds new entries, remembers which ones were shown, and waits while a server is unavailable.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../src/concurrency/timing';
import type { LogState } from '../../../src/protocol/log-states';
import type { LogFilter } from '../../../src/storage/push-log';
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
 * Polls until it is stopped. If the database or the service is unavailable, it prints this once and keeps trying.
 *
 * @param interval milliseconds between polls
 * @throws errors of `poll` that do not mean that the database or the service is unavailable
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
    // The sleep rejects only if it is stopped, and then the loop ends.
    await sleep(wait, undefined, { signal: stop }).catch(() => undefined);
  }
}

async function isAway(error: unknown): Promise<boolean> {
  if (error instanceof MatterPushError) return error.retryable;
  if (isOfDatabase(error)) return true;
  const { isSocketError } = await import('../../../src/infra/driver-errors.js');
  return isSocketError(error);
}

export interface PollDependencies {
  readonly source: Pick<LogSource, 'page' | 'all'>;
  readonly filter: LogFilter;
  readonly watch: LogWatch;
  readonly clock: Clock;
}

/** Milliseconds before the newest entry that each poll reads again. */
const REREAD_SPAN = 30_000;

/**
 * Reads new entries of the log. An entry becomes visible later than the time in its id, because it is written after its
 * id was made, and settled even later. So each poll reads the last seconds again.
 */
export class Poll {
  readonly #source: PollDependencies['source'];
  readonly #filter: LogFilter;
  readonly #watch: LogWatch;
  readonly #clock: Clock;
  /** Time of receipt from which the next poll reads, epoch milliseconds; undefined while the log is empty. */
  #from: number | undefined;
  #next: number | undefined;

  constructor({ source, filter, watch, clock }: PollDependencies) {
    this.#source = source;
    this.#filter = filter;
    this.#watch = watch;
    this.#clock = clock;
  }

  /**
   * Yields the entries to show now. It yields an entry again in the next poll unless `LogWatch.markShown` was called
   * for it.
   */
  async *due(): AsyncGenerator<ShownEntry> {
    const last = await this.#newest();
    if (last === undefined) return;
    // The earlier of two clocks, so that neither a wrong clock here nor one of the service skips later entries.
    this.#next = Math.min(last, this.#clock()) - REREAD_SPAN;
    const begin = Math.max(this.#from ?? this.#next, this.#filter.from ?? 0);
    yield* this.#late(begin);
    const window = { ...this.#filter, from: begin, to: last + 1 };
    for await (const entry of this.#source.all(window, { oldestFirst: true })) {
      if (this.#isDue(entry)) yield entry;
    }
  }

  /** Call it after all entries of `due` were shown. The next poll then begins later. */
  advance(): void {
    if (this.#next === undefined) return;
    this.#from = Math.max(this.#from ?? this.#next, this.#next);
    this.#watch.removeBefore(firstIdAt(this.#from));
  }

  /** Time of receipt of the newest entry, by the clock of the service. */
  async #newest(): Promise<number | undefined> {
    const { entries } = await this.#source.page({}, { limit: 1 });
    return entries[0] && receivedAtOf(entries[0].requestId);
  }

  /** The entries to show among those that are older than the window and were still queued in the last poll. */
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

/** Milliseconds after which a push that is still queued is shown as such. */
const SHOW_AFTER = 3_000;
/** Maximum queued entries older than the window that are watched. */
const MAX_UNSETTLED = 100;

/**
 * Remembers which entries were shown, because polls read young entries several times. An entry is shown once it is
 * settled, and also before if it stays queued for long.
 */
export class LogWatch {
  readonly #settled = new Set<string>();
  readonly #queued = new Map<string, { readonly since: number; readonly isShown: boolean }>();

  /** Whether to show an entry now. */
  isDue(id: string, state: LogState, now: number): boolean {
    if (state !== 'QUEUED') return !this.#settled.has(id);
    // Measured by the clock of this machine since the first read, because the clock of the service may differ.
    const seen = this.#queued.get(id);
    if (!seen) this.#queued.set(id, { since: now, isShown: false });
    return seen !== undefined && !seen.isShown && now - seen.since >= SHOW_AFTER;
  }

  /** Call it after the entry was shown. */
  markShown(id: string, state: LogState, now: number): void {
    if (state === 'QUEUED') {
      this.#queued.set(id, { since: this.#queued.get(id)?.since ?? now, isShown: true });
    } else {
      this.#queued.delete(id);
      this.#settled.add(id);
    }
  }

  /** Removes settled entries with an id below this one, because they are not read again. */
  removeBefore(below: string): void {
    for (const id of this.#settled) if (id < below) this.#settled.delete(id);
    for (const id of this.unsettled(below).slice(0, -MAX_UNSETTLED)) this.#queued.delete(id);
  }

  /** The ids below this one of entries that were queued when they were last read. */
  unsettled(below: string): readonly string[] {
    return [...this.#queued.keys()].filter((id) => id < below).sort();
  }

  /** Removes an entry that was deleted or does not match the filter any more. */
  drop(id: string): void {
    this.#queued.delete(id);
  }
}
