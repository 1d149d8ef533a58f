/** The business side's way: the signed queries of a service, which show it its own system. */

import { setTimeout as sleep } from 'node:timers/promises';
import { OUTCOMES } from '../../../src/domain/decide';
import { type Matter, priorityRank } from '../../../src/domain/matter';
import type { MatterView, OrphanView } from '../../../src/protocol/matter-view';
import { ORPHANS, queryPath } from '../../../src/protocol/paths';
import { parseDateTime } from '../../../src/protocol/time';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import type { LogOrder, PageOptions } from '../../../src/storage/push-log/search';
import { backoff } from '../../client/backoff';
import { confirmsOrphans } from '../../client/confirmations';
import { MatterPushError } from '../../client/error';
import type { MatterPushClient } from '../../client/matter-push-client';
import { createSender } from '../../client/sender';
import { judge } from '../../client/verdict';
import type { Signer } from './options';
import type { EntryPage, LogSource, MatterSource, OpenHere } from './sources';

/** Entries of one answer. */
const MAX_PAGE = 500;

/** The log, by `push-logs/query`. */
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
      // The query itself asks for no client: the log is that of the whole system.
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

interface SignedMatters {
  readonly client: Pick<MatterPushClient, 'query'>;
  readonly signer: Signer;
  /** In which the service writes deadlines: PORTAL_TIME_ZONE. */
  readonly timeZone: string;
}

/** The ledger, by `matters/get` and `matters/orphans`. */
export function createSignedMatters({ client, signer, timeZone }: SignedMatters): MatterSource {
  const get = async (externalIds: readonly string[]): Promise<readonly MatterView[]> => {
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
    unknownUsers: (usernames) => askUnknownUsers(usernames, client),
    orphans: async function* (_systemCode, list): AsyncGenerator<OpenHere> {
      for (const orphan of await askOrphans(asMany(list.ids()), signer)) {
        const { externalId, bizStatus, title, sourceUpdatedAt: at } = orphan;
        // The list may have been longer than what the service reads of it.
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

/** With contents at their longest, 500 matters are more than one answer may hold. */
const isTooHeavy = (error: unknown) =>
  error instanceof MatterPushError &&
  error.reason === 'VALIDATION_FAILED' &&
  error.errors.some(({ field }) => field === 'externalIds');

/** Ids of one question, and bytes of them: what the service reads. */
const MAX_IDS = 1_000_000;
const MAX_ID_BYTES = 60 * 1024 * 1024;

/** The first of many ids: as many as the service reads. */
function* asMany(ids: Iterable<string>): Generator<string> {
  let count = 0;
  let bytes = 0;
  for (const id of ids) {
    count += 1;
    // No character takes more than three bytes for a UTF-16 unit, also as JSON: ids have no control characters.
    bytes += id.length * 3 + 3;
    if (count > MAX_IDS || bytes > MAX_ID_BYTES) return;
    yield id;
  }
}

/** Milliseconds for the whole of it: a million ids go up, and as many lines may come down. */
const ORPHANS_TIMEOUT = 600_000;
/** One of a client is answered at a time, so another one may have to end first. */
const ORPHANS_TRIES = 6;

/**
 * `matters/orphans`: a list of ids goes, lines come; the last one says whether that was all.
 *
 * @param ids at most 1,000,000 (the service rejects more)
 * @returns what is open and not among the ids, by external id; all of it, or nothing
 * @throws MatterPushError
 */
async function askOrphans(ids: Iterable<string>, signer: Signer): Promise<OrphanView[]> {
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

/** Names of one check. */
const MAX_NAMES = 1_000;

/** Which users the portal does not know, by `users/check`. @param usernames in the form of a push, each once */
async function askUnknownUsers(
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
 * Back from what readers outside see of a matter to the matter, as far as it can be compared.
 *
 * @param timeZone in which `deadlineAt` is written: the zone of the portal
 * @returns the matter; its rank is derived anew and its past handlers, which nobody compares, are not told
 */
function toMatter(view: MatterView, timeZone: string): Matter {
  const { deadlineAt, sourceUpdatedAt, deletedAt } = view;
  return {
    ...view,
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
