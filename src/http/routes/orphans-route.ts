/** The handler of `matters/orphans`: a list of ids comes in, what is open here and not in it goes out. */
import type { Middleware } from 'koa';
import { createIdLines } from '../../protocol/id-lines';
import { ORPHANS } from '../../protocol/paths';
import type { Admit } from '../../pushes/admit';
import { databaseCall } from '../../pushes/availability';
import { createBulkhead } from '../../queries/bulkhead';
import type { FindOrphans } from '../../queries/orphans';
import { beginLines, type Lines, whenOver } from '../line-answer';
import type { RequestState } from '../middleware/koa-envelope';
import type { ReadStreamedRequest } from '../read-streamed-request';

/** A list of a million ids is some hundred megabytes of memory. */
const AT_A_TIME = { perKey: 1, total: 3 };
/** Of ids that nobody has. They take no place of others, but whether there is one shows no less. */
const STRANGERS_AT_A_TIME = { perKey: 1, total: Number.POSITIVE_INFINITY };
/** No id of a client: headers are not empty. */
const NOBODY = '';
/** Milliseconds in which the list must arrive. */
const BODY_TIMEOUT = 120_000;

export interface OrphansRouteDependencies {
  readonly read: ReadStreamedRequest;
  readonly admit: Admit;
  readonly find: FindOrphans;
  /** @throws PushError where the service cannot go on */
  readonly checkReady: () => void;
  /** Largest list in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds for each part of the answer. */
  readonly timeout: number;
}

export function orphansRoute(deps: OrphansRouteDependencies): Middleware<RequestState> {
  const bulkhead = createBulkhead(AT_A_TIME);
  const strangers = createBulkhead(STRANGERS_AT_A_TIME);
  // A stranger is rejected where a client would be: it must not learn which ids there are.
  const acquire = (clientId: string, isKnown: boolean) => {
    if (isKnown) return bulkhead.acquire(clientId);
    bulkhead.acquire(NOBODY)();
    return strangers.acquire(clientId);
  };
  return async (ctx) => {
    const list = createIdLines();
    const request = await deps.read(ctx, {
      operation: ORPHANS,
      bodyLimit: deps.bodyLimit,
      bodyTimeout: BODY_TIMEOUT,
      // Until the last line is sent, or the caller is gone.
      begin: (clientId, isKnown) => whenOver(ctx.res, acquire(clientId, isKnown)),
      take: list.take,
    });
    ctx.state.rate = await deps.admit({ ...request, path: ctx.path }, deps.timeout);
    const orphans = deps.find(request.caller.systemCode, list.end());
    ctx.state.lines = await beginLines(ctx.res, available(orphans, deps));
  };
}

/** Each group has a deadline, and none is begun that this process cannot end. */
async function* available(
  groups: Lines,
  { checkReady, timeout }: Pick<OrphansRouteDependencies, 'checkReady' | 'timeout'>,
): Lines {
  try {
    let step = await databaseCall(groups.next(), timeout);
    while (!step.done) {
      yield step.value;
      checkReady();
      step = await databaseCall(groups.next(), timeout);
    }
    return step.value;
  } finally {
    // Nobody waits for it: a read that is stuck ends at its own deadline.
    groups.return(undefined).catch(() => undefined);
  }
}
