/** The third party's own look into the push log: `push-logs/query`. */
import type { z } from 'zod';
import { decodeCursor, encodeCursor } from '../protocol/cursor';
import type { Language } from '../protocol/language';
import { logQuerySchema } from '../protocol/log-query';
import { readQuery } from '../protocol/query-body';
import type { DiagnoseEntry } from '../signature-diagnosis/diagnose-entry';
import { inChinese } from '../signature-diagnosis/in-chinese';
import type { Bodies } from '../storage/push-log/bodies';
import type { LogEntry } from '../storage/push-log/entry-model';
import type { FindKeyUses } from '../storage/push-log/key-uses';
import type { LogFilter } from '../storage/push-log/log-filter';
import type { ReadCounts } from '../storage/push-log/read-counts';
import type { LogSearch } from '../storage/push-log/search';
import { bodyText } from './body-text';
import { countQueryOf, isCountable } from './not-recorded';
import type { AnswerQuery } from './open-query';
import { toEntryView } from './presenters/entry';

export interface LogQueryDependencies {
  readonly search: LogSearch;
  readonly keyUses: FindKeyUses;
  readonly bodies: Bodies;
  readonly diagnose: DiagnoseEntry;
  readonly counts: Pick<ReadCounts, 'unrecorded'>;
  /** PORTAL_TIME_ZONE */
  readonly timeZone: string;
}

/** Entries that are counted at most. */
const COUNT_BOUND = 10_000;
const POSITION = /^[0-9a-f]{24}$/;

/**
 * @returns a query that answers `{ entries, nextCursor, count? }`, newest first unless asked. A page may hold
 *   fewer entries than asked for; only `nextCursor: null` means the end.
 */
export function createLogQuery(deps: LogQueryDependencies): AnswerQuery {
  const { search, counts } = deps;
  const schema = logQuerySchema(deps.timeZone);
  return async ({ systemCode, clientId, language, body }) => {
    const query = readQuery(schema, body);
    const { limit, cursor, count, includeBody = false, oldestFirst = false } = query;
    const filter = filterOf(query, systemCode);
    // A cursor is of one order; those of the usual one are what they were.
    const rows = oldestFirst ? { ...filter, oldestFirst } : filter;
    const after = cursor === undefined ? undefined : decodeCursor(cursor, rows, POSITION);
    const isCounted = cursor === undefined && isCountable(filter);
    const [{ entries, next }, counted, notRecorded] = await Promise.all([
      search.page(filter, { limit, after, oldestFirst }),
      count ? search.count(filter, COUNT_BOUND) : undefined,
      isCounted ? counts.unrecorded(countQueryOf({ ...filter, systemCode })) : undefined,
    ]);
    const views = await toViews(deps, entries, { includeBody, language });
    const diagnosis =
      filter.requestId === undefined ? undefined : await diagnosisOf(deps, entries, clientId);
    const said = diagnosis && language === 'zh' ? inChinese(diagnosis) : diagnosis;
    return {
      entries: diagnosis ? views.map((view) => ({ ...view, diagnosis: said })) : views,
      nextCursor: next === undefined ? null : encodeCursor(rows, next),
      ...(notRecorded !== undefined && { notRecorded }),
      ...(counted && { count: counted }),
    };
  };
}

type Query = z.output<ReturnType<typeof logQuerySchema>>;

function filterOf(query: Query, systemCode: string): LogFilter {
  const { limit, cursor, count, includeBody, oldestFirst, outcome, reason, ...rest } = query;
  const result = outcome ?? reason;
  return { ...rest, systemCode, ...(result !== undefined && { result }) };
}

async function toViews(
  { keyUses, bodies }: LogQueryDependencies,
  entries: readonly LogEntry[],
  { includeBody, language }: { readonly includeBody: boolean; readonly language: Language },
) {
  const ids = includeBody ? entries.map(({ _id }) => String(_id)) : [];
  const [uses, kept] = await Promise.all([keyUses(entries), bodies.find(ids)]);
  return entries.map((entry) => ({
    ...toEntryView(entry, uses.attempt(entry), language),
    ...(includeBody && { body: bodyText(kept.get(String(entry._id))) }),
  }));
}

/**
 * Of the one request that is asked for: each diagnosis may cost a tenth of a second. And only to
 * its own client: another one of the system may not hold the secret, and could ask this way about
 * guesses that it sent in the other's name.
 */
async function diagnosisOf(
  { diagnose, bodies }: LogQueryDependencies,
  [entry]: readonly LogEntry[],
  clientId: string,
) {
  if (!entry?.signature || entry.clientId !== clientId) return undefined;
  const id = String(entry._id);
  return diagnose(entry, (await bodies.find([id])).get(id));
}
