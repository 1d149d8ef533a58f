/** Reads the push log and the ledger with signed queries, for clients. A client sees only its own system. */

import { setTimeout as sleep } from 'node:timers/promises';
import { OUTCOMES } from '../../../src/domain/decide';
import { type Matter, priorityRank } from '../../../src/domain/matter';
import type { MatterAnswer, OrphanView } from '../../../src/protocol/matter-view';
import { ORPHANS, queryPath } from '../../../src/protocol/paths';
import { parseDateTime } from '../../../src/protocol/time';
import type { LogFilter, LogOrder, PageOptions } from '../../../src/storage/push-log';
import { backoff } from '../../client/backoff';
import { confirmsOrphans } from '../../client/confirmations';
import { MatterPushError } from '../../client/error';
import type { MatterPushClient } from '../../client/matter-push-client';
import { createSender } from '../../client/sender';
import { judge } from '../../client/verdict';
import { CommandFailure } from '../failure';
import type { Signer } from './options';
import type { EntryPage, LogSource, MatterSource, OpenHere } from './sources';

/** Maximum entries of one answer. */
const MAX_PAGE = 500;

/** Reads the push log with `push-logs/query`. */
export function createSignedLog(client: Pick<MatterPushClient, 'query'>): LogSource {
  const page = async (filter: LogFilter, options: PageOptions): Promise<EntryPage> => {
    const { limit, after, oldestFirst = false } = options;
    const order = { limit: Math.min(limit, MAX_PAGE), cursor: after, oldestFirst };
    const question = { ...questionOf(filter), ...order };
    const answer = await client.query('push-logs/query', question);
    const { entries, nextCursor, notRecorded } = answer;
    const { clientId } = filter;
    const last = entries.at(-1);
    return {
      // The query has no filter for the client, because it returns the entries of the whole system.
      entries: entries.filter((entry) => clientId === undefined || entry.clientId === clientId),
      next: nextCursor ?? undefined,
      place: last && Date.parse(last.receivedAt),
      notRecorded: clientId === undefined ? notRecorded : undefined,
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
    // The answer already contains the numbers of the attempts.
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

/** The body of the query. JSON leaves out undefined fields. */
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

interface SignedMatters {
  readonly client: Pick<MatterPushClient, 'query'>;
  readonly signer: Signer;
  /** PORTAL_TIME_ZONE, the time zone of the deadlines in answers. */
  readonly timeZone: string;
}

/** Reads the ledger with `matters/get` and `matters/orphans`. */
export function createSignedMatters({ client, signer, timeZone }: SignedMatters): MatterSource {
  const get = async (externalIds: readonly string[]): Promise<readonly MatterAnswer[]> => {
    try {
      return (await client.query('matters/get', { externalIds })).matters;
    } catch (error) {
      if (!isTooHeavy(error) || externalIds.length < 2) throw error;
      const half = Math.ceil(externalIds.length / 2);
      return [...(await get(externalIds.slice(0, half))), ...(await get(externalIds.slice(half)))];
    }
  };
  return {
    find: async ({ externalId }) => (await get([externalId]))[0],
    byKeys: async function* (_systemCode, externalIds) {
      for (const view of await get(externalIds)) yield toMatter(view, timeZone);
    },
    unknownUsers: (usernames) => queryUnknownUsers(usernames, client),
    orphans: async function* (_systemCode, list): AsyncGenerator<OpenHere> {
      for (const orphan of await queryOrphans(withinLimits(list.ids()), signer)) {
        const { externalId, bizStatus, title = '', sourceUpdatedAt: at } = orphan;
        // The service has seen only the first part of a very long list, so it may return matters of the rest.
        if (list.names(externalId)) continue;
        yield {
          externalId,
          bizStatus,
          title,
          sourceUpdatedAt: at === null ? null : Date.parse(at),
        };
      }
    },
  };
}

/** Whether the answer would be too large: 500 matters with long contents exceed the limit of the service. */
const isTooHeavy = (error: unknown) =>
  error instanceof MatterPushError &&
  error.reason === 'VALIDATION_FAILED' &&
  error.errors.some(({ field }) => field === 'externalIds');

/** Maximum ids in one query, and maximum bytes: the limits of the service. */
const MAX_IDS = 1_000_000;
const MAX_ID_BYTES = 60 * 1024 * 1024;

/** Yields as many of the ids as the service accepts. */
function* withinLimits(ids: Iterable<string>): Generator<string> {
  let count = 0;
  let bytes = 0;
  for (const id of ids) {
    count += 1;
    // At most three bytes for each UTF-16 unit, also in JSON, because ids have no control characters.
    bytes += id.length * 3 + 3;
    if (count > MAX_IDS || bytes > MAX_ID_BYTES) return;
    yield id;
  }
}

/** Milliseconds for the whole query: it may send a million ids and receive as many lines. */
const ORPHANS_TIMEOUT = 600_000;
/** Maximum attempts. The service answers one such query of a client at a time, so another one may have to end first. */
const ORPHANS_TRIES = 6;

/**
 * Sends the query `matters/orphans`. The answer has a line for each orphan. Its last line states whether it is
 * complete.
 *
 * @param ids at most 1,000,000, because the service rejects more
 * @returns the open matters that are not among the ids, sorted by external id
 * @throws MatterPushError if the answer is not complete
 */
async function queryOrphans(ids: Iterable<string>, signer: Signer): Promise<OrphanView[]> {
  const body = Buffer.from(Array.from(ids, (id) => `${JSON.stringify(id)}\n`).join(''));
  const sender = createSender({ ...signer, concurrency: 1, timeout: ORPHANS_TIMEOUT });
  const request = { path: queryPath(ORPHANS), body, idempotencyKey: undefined };
  try {
    for (let tries = 1; ; tries += 1) {
      const answer = await sender.send(request);
      const lines = answer.text.trimEnd().split('\n');
      const verdict = judge({ ...answer, text: lines.pop() ?? '' }, confirmsOrphans);
      if (verdict.kind === 'answered') return lines.map((line) => JSON.parse(line));
      if (!verdict.retryable || tries === ORPHANS_TRIES) {
        throw new MatterPushError(verdict, { tries, idempotencyKey: undefined });
      }
      await sleep(backoff(tries, verdict.retryAfter));
    }
  } finally {
    sender.close();
  }
}

/** Maximum usernames of one check. */
const MAX_NAMES = 1_000;

/** Finds the usernames without an enabled portal user, with `users/check`. @param usernames each name once */
async function queryUnknownUsers(
  usernames: readonly string[],
  client: Pick<MatterPushClient, 'query'>,
): Promise<string[]> {
  const unknown: string[] = [];
  for (let at = 0; at < usernames.length; at += MAX_NAMES) {
    const some = usernames.slice(at, at + MAX_NAMES);
    const { users } = await client.query('users/check', { usernames: some });
    for (const { username, state } of users) if (state !== 'ENABLED') unknown.push(username);
  }
  return unknown;
}

/**
 * Converts a matter of an answer to the domain's `Matter`, so that it can be compared.
 *
 * @param timeZone the time zone of `deadlineAt` in answers
 * @returns the matter, with a rank derived from its priority, and without past handlers, which are never compared
 */
function toMatter(view: MatterAnswer, timeZone: string): Matter {
  const { title, summary = null, content = null, payloadJson = null } = view;
  const { deadlineAt, sourceUpdatedAt, deletedAt } = view;
  if (title === undefined) {
    throw new CommandFailure('the query key has no access to bodies, which a comparison needs');
  }
  return {
    ...view,
    ...{ title, summary, content, payloadJson },
    matterId: BigInt(view.matterId),
    priorityRank: priorityRank(view.priority),
    deadlineAt: deadlineAt === null ? null : (parseDateTime(deadlineAt, timeZone) ?? null),
    sourceUpdatedAt: sourceUpdatedAt === null ? null : Date.parse(sourceUpdatedAt),
    pastHandlers: [],
    createdAt: Date.parse(view.createdAt),
    updatedAt: Date.parse(view.updatedAt),
    deletedAt: deletedAt === null ? null : Date.parse(deletedAt),
  };
}
