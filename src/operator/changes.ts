/** Pauses and resumes a client for an operator who has OPERATOR_TOKEN. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { z } from 'zod';
import { withTimeout } from '../concurrency/timing';
import { foldedLog } from '../infra/folded-log';
import { withAuditEntry } from '../storage/audit';
import { pauseAction, setPaused } from '../storage/directory';
import type { OperatorParts } from './queue-history';

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
    logger.info({ clientId, paused, operator }, 'client paused or resumed by an operator');
    return { status: 200, body: { clientId, paused } };
  } catch (error) {
    if (error instanceof Error && error.name === 'DirectoryError') {
      return reject(400, 'NOT_POSSIBLE', error.message);
    }
    return reject(503, 'NOT_CONFIRMED', `${explain(error)}; check whether the client was changed`);
  }
}

function logRejection(
  { logger }: ChangeParts,
  req: IncomingMessage,
  { status: code, body: { reason } }: Rejection,
): void {
  const kind = { level: 'warn', text: 'operator request rejected', reason, code } as const;
  foldedLog(logger)(kind, { address: req.socket.remoteAddress });
}

function rejectionOf(
  req: IncomingMessage,
  { token, wrongTokens }: ChangeParts,
): Rejection | undefined {
  if (token === '') {
    return reject(404, 'CHANGES_OFF', 'nothing can be changed here: OPERATOR_TOKEN is not set');
  }
  if (!isFromOwnPage(req)) return reject(403, 'CROSS_SITE', 'requests of other sites are rejected');
  const received = /^Bearer (\S+)$/.exec(req.headers.authorization ?? '')?.[1];
  if (received === undefined)
    return reject(401, 'TOKEN_MISSING', 'send the header Authorization: Bearer <token>');
  if (!isSame(received, token))
    return rejectWrongToken(req.socket.remoteAddress ?? '', wrongTokens);
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? '')) {
    return reject(415, 'NOT_JSON', 'the content type must be application/json');
  }
  return undefined;
}

/** A correct token is always accepted, so an attacker cannot lock out the operator. */
function rejectWrongToken(address: string, wrongTokens: WrongTokenCounter): Rejection {
  if (!wrongTokens.mayTry(address)) {
    return reject(429, 'TOO_MANY_TRIES', 'too many wrong tokens: try again in a minute');
  }
  wrongTokens.wrong(address);
  return reject(401, 'TOKEN_WRONG', 'the token is not OPERATOR_TOKEN');
}

/** Browsers send Sec-Fetch-Site or Origin. A request with neither header is not from a browser. */
function isFromOwnPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}

/** Compares digests in constant time, so that the duration does not reveal the token. */
const isSame = (received: string, token: string) =>
  timingSafeEqual(digest(received), digest(token));
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
    return undefined;
  }
}

const reject = (status: number, reason: string, message: string): Rejection => ({
  status,
  body: { reason, message },
});

const explain = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';

export interface WrongTokenCounter {
  /** Whether the number of recent wrong tokens from this address is below MAX_WRONG. */
  mayTry(address: string): boolean;
  wrong(address: string): void;
}

const MAX_WRONG = 10;
/** Milliseconds from the first wrong token of an address until the count of the address expires. */
const SPAN = 60_000;
/** Maximum addresses with separate counts; all further addresses share one count. */
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
