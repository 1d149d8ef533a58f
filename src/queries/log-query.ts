/** The query `push-logs/query` returns the push-log entries of the caller's system. */
import type { z } from 'zod';
import { decodeCursor, encodeCursor } from '../protocol/cursor';
import type { Language } from '../protocol/language';
import type { Diagnosis, LogPage } from '../protocol/log-page';
import { logQuerySchema } from '../protocol/log-query';
import { readQuery } from '../protocol/query-body';
import type { DiagnoseEntry } from '../signature-diagnosis/diagnose';
import { inChinese } from '../signature-diagnosis/in-chinese';
import type {
  Bodies,
  FindKeyUses,
  LogEntry,
  LogFilter,
  LogSearch,
  PushCountReader,
} from '../storage/push-log';
import { bodyText } from './body-text';
import { countQueryOf, isCountable } from './not-recorded';
import { toEntryView } from './presenters/entry';
import type { AnswerQuery } from './signed-query';

export interface LogQueryDependencies {
  readonly search: LogSearch;
  readonly keyUses: FindKeyUses;
  readonly bodies: Bodies;
  readonly diagnose: DiagnoseEntry;
  readonly counts: Pick<PushCountReader, 'unrecorded'>;
  /** PORTAL_TIME_ZONE */
  readonly timeZone: string;
}

const COUNT_BOUND = 10_000;
/** The position in a cursor is a request id. */
const POSITION = /^[0-9a-f]{24}$/;

/** A page can have fewer entries than `limit`. Only `nextCursor: null` marks the last page. */
export function createLogQuery(deps: LogQueryDependencies): AnswerQuery<LogPage> {
  const { search, counts } = deps;
  const schema = logQuerySchema(deps.timeZone);
  return async ({ systemCode, clientId, queryKey, language, body }) => {
    const query = readQuery(schema, body);
    const { limit, cursor, count, oldestFirst = false } = query;
    const seesBodies = !queryKey?.noBodies;
    const includeBody = query.includeBody === true && seesBodies;
    const filter = filterOf(query, systemCode);
    // Omits `oldestFirst: false`, so that the cursors of older service versions stay valid.
    const cursorQuery = oldestFirst ? { ...filter, oldestFirst } : filter;
    const after = cursor === undefined ? undefined : decodeCursor(cursor, cursorQuery, POSITION);
    const showsNotRecorded = cursor === undefined && isCountable(filter);
    const [{ entries, next }, counted, notRecorded] = await Promise.all([
      search.page(filter, { limit, after, oldestFirst }),
      count ? search.count(filter, COUNT_BOUND) : undefined,
      showsNotRecorded ? counts.unrecorded(countQueryOf({ ...filter, systemCode })) : undefined,
    ]);
    const views = await toViews(deps, entries, { includeBody, language });
    const found =
      filter.requestId === undefined ? undefined : await diagnosisOf(deps, entries, clientId);
    const diagnosis = found && !seesBodies ? withoutDifferences(found) : found;
    const localized = diagnosis && language === 'zh' ? inChinese(diagnosis) : diagnosis;
    return {
      entries: diagnosis ? views.map((view) => ({ ...view, diagnosis: localized })) : views,
      nextCursor: next === undefined ? null : encodeCursor(cursorQuery, next),
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
  const [uses, stored] = await Promise.all([keyUses(entries), bodies.find(ids)]);
  return entries.map((entry) => ({
    ...toEntryView(entry, uses.attempt(entry), language),
    ...(includeBody && { body: bodyText(stored.get(String(entry._id))) }),
  }));
}

/** Removes the differences, because the differences quote the body. */
const withoutDifferences = ({ findings, ...diagnosis }: Diagnosis): Diagnosis => ({
  ...diagnosis,
  findings: findings.map(({ difference, ...finding }) => finding),
});

/** Only the client that sent the push gets the diagnosis, because a diagnosis helps to guess secrets. */
async function diagnosisOf(
  { diagnose, bodies }: LogQueryDependencies,
  [entry]: readonly LogEntry[],
  clientId: string,
) {
  if (!entry?.signature || entry.clientId !== clientId) return undefined;
  const id = String(entry._id);
  return diagnose(entry, (await bodies.find([id])).get(id));
}
