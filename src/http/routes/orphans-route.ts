/** `matters/orphans`: a list of ids comes in, what is open here and not in it goes out. */
import type { Context, Middleware } from 'koa';
import type { Reach } from '../../concurrency/reach';
import { createIdLines } from '../../protocol/id-lines';
import { LIST_LIMIT } from '../../protocol/limits';
import { ORPHANS } from '../../protocol/paths';
import { databaseCall } from '../../pushes/availability';
import { createBulkhead } from '../../queries/bulkhead';
import type { FindOrphans } from '../../queries/orphans';
import { beginLines, type Lines, whenOver } from '../line-answer';
import type { StreamedRoute } from '../middleware/koa-streamed-hmac-auth';
import type { RequestState } from '../request-state';

/** A list of a million ids is some hundred megabytes of memory. */
const AT_A_TIME = { perKey: 1, total: 3 };
/** Of ids that nobody has. They take no place of others, but whether there is one shows no less. */
const STRANGERS_AT_A_TIME = { perKey: 1, total: Number.POSITIVE_INFINITY };
/** No id of a client: headers are not empty. */
const NOBODY = '';
/** Milliseconds in which the list must arrive. */
const BODY_TIMEOUT = 120_000;

/** How the list is received: into `ctx.state.ids`. @param bodyLimit bytes */
export function orphansList(bodyLimit = LIST_LIMIT): StreamedRoute {
  const bulkhead = createBulkhead(AT_A_TIME);
  const strangers = createBulkhead(STRANGERS_AT_A_TIME);
  // A stranger is rejected where a client would be: it must not learn which ids there are.
  const acquire = (clientId: string, isKnown: boolean) => {
    if (isKnown) return bulkhead.acquire(clientId);
    bulkhead.acquire(NOBODY)();
    return strangers.acquire(clientId);
  };
  const begin = ({ res, state }: Context, clientId: string, isKnown: boolean) => {
    // Until the last line is sent, or the caller is gone.
    whenOver(res, acquire(clientId, isKnown));
    state.ids = createIdLines();
    return state.ids.take;
  };
  return { operation: ORPHANS, bodyLimit, bodyTimeout: BODY_TIMEOUT, begin };
}

export interface OrphansRouteDependencies {
  readonly find: FindOrphans;
  /** @throws PushError where the service cannot go on */
  readonly checkReady: () => void;
  readonly database: Pick<Reach, 'guard'>;
  /** Milliseconds for each part of the answer. */
  readonly timeout: number;
}

export function orphansRoute(deps: OrphansRouteDependencies): Middleware<RequestState> {
  return async ({ res, state }) => {
    const orphans = deps.find(state.signed.caller.systemCode, state.ids.end());
    state.lines = await beginLines(res, available(orphans, deps));
  };
}

/** Each group has a deadline, and none is begun that this process cannot end. */
async function* available(
  groups: Lines,
  { checkReady, database, timeout }: Omit<OrphansRouteDependencies, 'find'>,
): Lines {
  try {
    let step = await databaseCall(database.guard(groups.next()), timeout);
    while (!step.done) {
      yield step.value;
      checkReady();
      step = await databaseCall(database.guard(groups.next()), timeout);
    }
    return step.value;
  } finally {
    // Nobody waits for it: a read that is stuck ends at its own deadline.
    groups.return(undefined).catch(() => undefined);
  }
}
