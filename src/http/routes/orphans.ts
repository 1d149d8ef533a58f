/** The handler of `matters/orphans`: returns open matters and drafts that are missing in the client's list of ids. */
import type { Middleware } from 'koa';
import type { Reach } from '../../concurrency/reach';
import { ORPHANS_ENDPOINT } from '../../protocol/endpoints';
import { createIdLines } from '../../protocol/id-lines';
import { databaseCall } from '../../pushes/pushes';
import { createBulkhead } from '../../queries/bulkhead';
import type { FindOrphans } from '../../queries/orphans';
import { type LineGroups, onResponseEnd, startLines } from '../line-answer';
import type { RequestState } from '../request';
import type { StreamedUpload } from '../streamed-body';

/**
 * Maximum concurrent requests of one client (`perKey`) and of all known clients. A list of a million ids can take a
 * hundred megabytes of memory.
 */
const MAX_CONCURRENT = { perKey: 1, total: 3 };
/** Requests with unknown client ids must not occupy the slots of known clients. */
const MAX_CONCURRENT_UNKNOWN = { perKey: 1, total: Number.POSITIVE_INFINITY };
/** No client has this id, because an empty X-Client-Id is rejected. */
const NO_CLIENT = '';

export function createOrphansUpload(bodyLimit = ORPHANS_ENDPOINT.body.limit.bytes): StreamedUpload {
  const bulkhead = createBulkhead(MAX_CONCURRENT);
  const unknown = createBulkhead(MAX_CONCURRENT_UNKNOWN);
  // Applies the same limits to known and unknown clients. Otherwise, the answers would reveal which clients exist.
  const acquire = (clientId: string, isKnown: boolean) => {
    if (isKnown) return bulkhead.acquire(clientId);
    bulkhead.acquire(NO_CLIENT)();
    return unknown.acquire(clientId);
  };
  const begin: StreamedUpload['begin'] = ({ res, state }, clientId, isKnown) => {
    // `acquire` returns the function that releases the slot.
    onResponseEnd(res, acquire(clientId, isKnown));
    state.ids = createIdLines();
    return state.ids.take;
  };
  const { name, body } = ORPHANS_ENDPOINT;
  return { operation: name, bodyLimit, bodyTimeout: body.uploadTimeout, begin };
}

export interface OrphansRouteDependencies {
  readonly find: FindOrphans;
  /** @throws PushError if the service is not ready */
  readonly checkReady: () => void;
  readonly database: Pick<Reach, 'guard'>;
  /** Maximum milliseconds to read one group of lines. */
  readonly timeout: number;
}

export function orphansRoute(deps: OrphansRouteDependencies): Middleware<RequestState> {
  return async ({ res, state }) => {
    const { systemCode, queryKey } = state.signed.caller;
    const orphans = deps.find(systemCode, state.ids.end(), !queryKey?.noBodies);
    state.lines = await startLines(res, withTimeLimit(orphans, deps));
  };
}

async function* withTimeLimit(
  groups: LineGroups,
  { checkReady, database, timeout }: Omit<OrphansRouteDependencies, 'find'>,
): LineGroups {
  try {
    let step = await databaseCall(database.guard(groups.next()), timeout);
    while (!step.done) {
      yield step.value;
      checkReady();
      step = await databaseCall(database.guard(groups.next()), timeout);
    }
    return step.value;
  } finally {
    // This call is not awaited, so that a hanging database read cannot delay the answer.
    groups.return(undefined).catch(() => undefined);
  }
}
