/** The business side's way to the log: `push-logs/query`, signed. It sees the pushes of its own system. */

import { OUTCOMES } from '../../../src/domain/decide';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import type { LogOrder, PageOptions } from '../../../src/storage/push-log/search';
import type { MatterPushClient } from '../../client/matter-push-client';
import type { EntryPage, LogSource } from './log-source';

/** Entries of one answer. */
const MAX_PAGE = 500;

export function createSignedLog(client: Pick<MatterPushClient, 'query'>): LogSource {
  const page = async (filter: LogFilter, options: PageOptions): Promise<EntryPage> => {
    const { limit, after, oldestFirst = false } = options;
    const order = { limit: Math.min(limit, MAX_PAGE), cursor: after, oldestFirst };
    const question = { ...questionOf(filter), ...order };
    const { entries, nextCursor } = await client.query('push-logs/query', question);
    const { clientId } = filter;
    const last = entries.at(-1);
    return {
      // The query itself asks for no client: the log is that of the whole system.
      entries: entries.filter((entry) => clientId === undefined || entry.clientId === clientId),
      next: nextCursor ?? undefined,
      place: last && Date.parse(last.receivedAt),
    };
  };
  async function* all(filter: LogFilter, order: LogOrder = {}) {
    let after: string | undefined;
    do {
      const { entries, next } = await page(filter, { ...order, limit: MAX_PAGE, after });
      yield* entries;
      after = next;
    } while (after !== undefined);
  }
  return {
    ofOperators: false,
    page,
    all,
    // They come with their numbers.
    numbered: (entries) => entries,
    detail: async (requestId, { body: includeBody }) => {
      const question = { requestId, includeBody, limit: 1 };
      const [found] = (await client.query('push-logs/query', question)).entries;
      if (!found) return undefined;
      const { body, diagnosis, ...view } = found;
      return { view, diagnosis, body };
    },
  };
}

/** The body of the query; JSON leaves out what is undefined. */
function questionOf({ systemCode: _, clientId: _clientId, ...filter }: LogFilter): object {
  const { result, from, to, ...same } = filter;
  const [one = ''] = [result ?? []].flat();
  const isOutcome = (OUTCOMES as readonly string[]).includes(one);
  return {
    ...same,
    ...(result !== undefined && { [isOutcome ? 'outcome' : 'reason']: result }),
    from: toIso(from),
    to: toIso(to),
  };
}

const toIso = (instant: number | undefined) =>
  instant === undefined ? undefined : new Date(instant).toISOString();
