/**
 * Pauses and resumes a client for an operator who has OPERATOR_TOKEN. The effect and the audit entry are the same as
 * with `matterctl queue pause` and `matterctl queue resume`. The token is checked before the body is read.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { z } from 'zod';
import { withTimeout } from '../concurrency/timing';
import { foldedLog } from '../infra/folded-log';
import { withAuditEntry } from '../storage/audit';
import { pauseAction, setPaused } from '../storage/directory';
import type { OperatorParts } from './queue-history';

/** Maximum bytes of a body. */
const MAX_BYTES = 8_192;
/** Maximum milliseconds for the change in the database. */
const TIMEOUT = 5_000;

const changeSchema = z.object({
  clientId: z.string().min(1).max(64),
  /** Name of the operator for the audit trail. */
  operator: z
    .string()
    .trim()
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u),
  reason: z.string().trim().max(200).optional(),
});

export interface ChangeAnswer {
  readonly status: number;
  readonly body: object;
}

interface Rejection extends ChangeAnswer {
  readonly body: { readonly reason: string; readonly message: string };
}

interface ChangeParts extends Pick<OperatorParts, 'mongo' | 'logger' | 'token'> {
  readonly wrongTokens: WrongTokenCounter;
}

/** Pauses or resumes the client that a request names. @returns the answer, also if the change is rejected or fails */
export async function answerChange(
  req: IncomingMessage,
  paused: boolean,
  parts: ChangeParts,
): Promise<ChangeAnswer> {
  const rejection = rejectionOf(req, parts);
  if (rejection) {
    logRejection(parts, req, rejection);
    return rejection;
  }
  const parsed = changeSchema.safeParse(await readJson(req));
  if (!parsed.success) {
    return reject(
      400,
      'BAD_REQUEST',
      'clientId and operator are required (1 to 64 characters); reason has at most 200 characters',
    );
  }
  const { clientId, operator, reason } = parsed.data;
  const change = { clientId, paused, ...(paused && reason && { reason }) };
  const action = { ...pauseAction(change), operator, host: hostname() };
  const { mongo, logger } = parts;
  const onUnended = (cause: unknown) =>
    logger.warn(
      { error: String(cause) },
      'the audit trail does not contain the result of a change',
    );
  const made = withAuditEntry(mongo, action, () => setPaused(mongo, change), {
    explain,
    onUnended,
  });
  try {
    await withTimeout(made, TIMEOUT);
    logger.info({ clientId, paused, operator }, 'client paused or resumed on the operator page');
    return { status: 200, body: { clientId, paused } };
  } catch (error) {
    if (error instanceof Error && error.name === 'DirectoryError') {
      return reject(400, 'NOT_POSSIBLE', error.message);
    }
    return reject(503, 'NOT_CONFIRMED', `${explain(error)}; check whether the client was changed`);
  }
}

/** Uses the folded log, because many requests with a wrong token can arrive in a second. */
function logRejection(
  { logger }: ChangeParts,
  req: IncomingMessage,
  { status: code, body: { reason } }: Rejection,
): void {
  const kind = { level: 'warn', text: 'operator request rejected', reason, code } as const;
  foldedLog(logger)(kind, { address: req.socket.remoteAddress });
}

/** Checks the headers of a request. @returns the rejection; undefined if the headers are valid */
function rejectionOf(
  req: IncomingMessage,
  { token, wrongTokens }: ChangeParts,
): Rejection | undefined {
  if (token === '') {
    return reject(404, 'CHANGES_OFF', 'nothing can be changed here: OPERATOR_TOKEN is not set');
  }
  if (!isFromOwnPage(req)) return reject(403, 'CROSS_SITE', 'requests of other sites are rejected');
  const given = /^Bearer (\S+)$/.exec(req.headers.authorization ?? '')?.[1];
  if (given === undefined) return reject(401, 'TOKEN_MISSING', 'Authorization: Bearer <token>');
  if (!isSame(given, token)) return rejectWrongToken(req.socket.remoteAddress ?? '', wrongTokens);
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? '')) {
    return reject(415, 'NOT_JSON', 'the content type must be application/json');
  }
  return undefined;
}

/**
 * Rejects a wrong token. Only wrong tokens are counted and limited, so an attacker who sends wrong tokens cannot lock
 * out the operator.
 */
function rejectWrongToken(address: string, wrongTokens: WrongTokenCounter): Rejection {
  if (!wrongTokens.mayTry(address)) {
    return reject(429, 'TOO_MANY_TRIES', 'too many wrong tokens: try again in a minute');
  }
  wrongTokens.wrong(address);
  return reject(401, 'TOKEN_WRONG', 'the token is not OPERATOR_TOKEN');
}

/**
 * True for a request of the operator page, and for a request of a program. A browser sends Sec-Fetch-Site or Origin; a
 * program sends neither header.
 */
function isFromOwnPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}

/** Compares in constant time, so that the duration reveals neither the token nor its length. */
const isSame = (given: string, token: string) => timingSafeEqual(digest(given), digest(token));
const digest = (text: string) => createHash('sha256').update(text).digest();

/** @returns undefined if the body is too long, incomplete, or not JSON */
async function readJson(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req) {
      size += chunk.length;
      if (size > MAX_BYTES) return undefined;
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    // The body is incomplete or not JSON. The caller validates undefined with the schema and answers 400.
    return undefined;
  }
}

const reject = (status: number, reason: string, message: string): Rejection => ({
  status,
  body: { reason, message },
});

const explain = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';

// Counts of wrong tokens by IP address. The right token is always accepted.

export interface WrongTokenCounter {
  /** Whether this address has sent fewer wrong tokens than MAX_WRONG in its current span. */
  mayTry(address: string): boolean;
  /** Counts a wrong token of this address. */
  wrong(address: string): void;
}

/** Maximum wrong tokens of one address in one span. */
const MAX_WRONG = 10;
/**
 * Milliseconds of a span. The first wrong token of an address begins a span. The first wrong token after the end of the
 * span begins a new span.
 */
const SPAN = 60_000;
/** Maximum addresses in memory. Further addresses share one count. */
const MAX_ADDRESSES = 1_000;
const OTHERS = '';

/** @param clock a monotonic clock in milliseconds */
export function createWrongTokenCounter(
  clock: () => number = () => performance.now(),
): WrongTokenCounter {
  const counts = new Map<string, { count: number; until: number }>();
  const keyOf = (address: string) => {
    if (counts.has(address)) return address;
    for (const [key, { until }] of counts) if (until <= clock()) counts.delete(key);
    return counts.size < MAX_ADDRESSES ? address : OTHERS;
  };
  return {
    mayTry: (address) => {
      const known = counts.get(keyOf(address));
      return !known || known.until <= clock() || known.count < MAX_WRONG;
    },
    wrong: (address) => {
      const key = keyOf(address);
      const known = counts.get(key);
      const isOver = !known || known.until <= clock();
      counts.set(
        key,
        isOver ? { count: 1, until: clock() + SPAN } : { ...known, count: known.count + 1 },
      );
    },
  };
}
