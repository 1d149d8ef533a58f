/**
 * Reads what is new in the log. An entry becomes visible later than its id says (it is recorded
 * after the id was made, and settled later still), so the last seconds are read again each time.
 */
import type { Clock } from '../../../src/concurrency/clock';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import { firstIdAt, receivedAtOf } from '../../../src/storage/push-log/request-id';
import type { LogSource, ShownEntry } from '../source/log-source';
import type { Watch } from './watch';

export interface Poll {
  /** Gives the entries that are to be told now; those that it gave last may come again until told. */
  due(): AsyncGenerator<ShownEntry>;
  /** After all of `due` was told: the next poll begins later. */
  advance(): void;
}

/** Milliseconds that are read again. */
const TRAIL = 30_000;

export interface PollDependencies {
  readonly source: Pick<LogSource, 'page' | 'all'>;
  readonly filter: LogFilter;
  readonly watch: Watch;
  readonly clock: Clock;
}

export function createPoll({ source, filter, watch, clock }: PollDependencies): Poll {
  /** Where reading begins, epoch milliseconds; undefined while the log is empty. */
  let from: number | undefined;
  let next: number | undefined;

  /** When the newest entry was received, by the clocks of the service. */
  const newest = async () => {
    const { entries } = await source.page({}, { limit: 1 });
    return entries[0] && receivedAtOf(entries[0].requestId);
  };
  const isDue = ({ requestId, state }: ShownEntry) => watch.isDue(requestId, state, clock());

  /** Those that are still queued although they have left the window. */
  async function* late(begin: number) {
    for (const id of watch.unsettled(firstIdAt(begin))) {
      const [entry] = (await source.page({ ...filter, requestId: id }, { limit: 1 })).entries;
      if (!entry) watch.drop(id);
      else if (isDue(entry)) yield entry;
    }
  }

  return {
    due: async function* () {
      const last = await newest();
      if (last === undefined) return;
      // Neither our clock nor one of theirs may move the window past what is still to come.
      next = Math.min(last, clock()) - TRAIL;
      const begin = Math.max(from ?? next, filter.from ?? 0);
      yield* late(begin);
      const window = { ...filter, from: begin, to: last + 1 };
      for await (const entry of source.all(window, { oldestFirst: true })) {
        if (isDue(entry)) yield entry;
      }
    },
    advance: () => {
      if (next === undefined) return;
      from = Math.max(from ?? next, next);
      watch.forget(firstIdAt(from));
    },
  };
}
