/** The newest pushes as they are told: those that are there, then those that come. */
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import type { LogSource, ShownEntry } from '../source/log-source';
import { firstEntries, type Reached } from './first-entries';
import { createPoll } from './poll';
import { createWatch } from './watch';

export interface Tailing {
  /** Prints the newest, the oldest of them first. @param most how many */
  printNewest(most: number): Promise<void>;
  /** Takes what is there for told. */
  begin(): Promise<void>;
  /** Prints what came since. */
  poll(): Promise<void>;
}

export function createTailing(
  source: LogSource,
  filter: LogFilter,
  print: (view: ShownEntry) => Promise<void>,
  onPage: (reached: Reached) => void,
): Tailing {
  const clock = Date.now;
  const watch = createWatch();
  const poll = createPoll({ source, filter, watch, clock });

  async function* newest(limit: number) {
    const found: ShownEntry[] = [];
    for await (const entry of firstEntries(source, filter, { limit, onPage })) found.push(entry);
    yield* found.reverse();
  }
  const printAll = async (entries: AsyncIterable<ShownEntry>) => {
    for await (const view of source.numbered(entries)) {
      await print(view);
      watch.told(view.requestId, view.state, clock());
    }
  };
  return {
    printNewest: async (most) => {
      if (most > 0) await printAll(newest(most));
    },
    begin: async () => {
      for await (const { requestId, state } of poll.due()) watch.told(requestId, state, clock());
      poll.advance();
    },
    poll: async () => {
      await printAll(poll.due());
      poll.advance();
    },
  };
}
