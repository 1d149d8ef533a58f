/** The newest pushes as they are told: those that are there, then those that come. */
import type { Connection } from 'mongoose';
import type { OperatorEntryView } from '../../portal/entry-view';
import type { LogEntry } from '../../push-log/entry-model';
import { createKeyUses } from '../../push-log/key-uses';
import type { LogFilter } from '../../push-log/log-filter';
import { createLogSearch } from '../../push-log/search';
import { firstEntries, type Reached } from './first-entries';
import { createPoll } from './poll';
import { viewsOf } from './views';
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
  connection: Connection,
  filter: LogFilter,
  print: (view: OperatorEntryView) => Promise<void>,
  onPage: (reached: Reached) => void,
): Tailing {
  const clock = Date.now;
  const search = createLogSearch(connection);
  const keyUses = createKeyUses(connection);
  const watch = createWatch();
  const poll = createPoll({ search, filter, watch, clock });

  async function* newest(limit: number) {
    const found: LogEntry[] = [];
    for await (const entry of firstEntries(search, filter, { limit, onPage })) found.push(entry);
    yield* found.reverse();
  }
  const printAll = async (entries: AsyncIterable<LogEntry>) => {
    for await (const view of viewsOf(entries, keyUses)) {
      await print(view);
      watch.told(view.requestId, view.state, clock());
    }
  };
  return {
    printNewest: async (most) => {
      if (most > 0) await printAll(newest(most));
    },
    begin: async () => {
      for await (const { _id, state } of poll.due()) watch.told(String(_id), state, clock());
      poll.advance();
    },
    poll: async () => {
      await printAll(poll.due());
      poll.advance();
    },
  };
}
