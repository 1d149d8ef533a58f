/**
 * Pausing a client and letting it push again, by whoever has OPERATOR_TOKEN: as `matterctl queue pause` and
 * `resume` do it, with the same entry in the audit trail. Nothing of a request is believed before its token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { z } from 'zod';
import { withTimeout } from '../concurrency/timeout';
import { foldedLog } from '../runtime/folded-log';
import { withAuditEntry } from '../storage/audit/with-entry';
import { pauseAction, setPaused } from '../storage/directory/pause-client';
import type { OperatorParts } from './parts';
import type { Tries } from './tries';

const MOST_BYTES = 8_192;
/** Milliseconds. */
const TIMEOUT = 5_000;

const wanted = z.object({
  clientId: z.string().min(1).max(64),
  /** Who does this, for the audit trail. */
  operator: z
    .string()
    .trim()
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u),
  reason: z.string().trim().max(200).optional(),
});

export interface Answer {
  readonly status: number;
  readonly body: object;
}

interface Rejection extends Answer {
  readonly body: { readonly reason: string; readonly message: string };
}

interface ChangeParts extends Pick<OperatorParts, 'mongo' | 'logger' | 'token'> {
  readonly tries: Tries;
}

/** @returns what is to be told; it does not fail, but for a bug */
export async function answerChange(
  req: IncomingMessage,
  paused: boolean,
  parts: ChangeParts,
): Promise<Answer> {
  const rejection = rejectionOf(req, parts);
  if (rejection) {
    logRejection(parts, req, rejection);
    return rejection;
  }
  const asked = wanted.safeParse(await readJson(req));
  if (!asked.success) {
    return no(400, 'BAD_REQUEST', 'clientId, operator (1 to 64 characters), reason (at most 200)');
  }
  const { clientId, operator, reason } = asked.data;
  const change = { clientId, paused, ...(paused && reason && { reason }) };
  const action = { ...pauseAction(change), operator, host: hostname() };
  const { mongo, logger } = parts;
  const onUnended = (cause: unknown) =>
    logger.warn({ error: String(cause) }, 'the audit trail does not tell how a change ended');
  const made = withAuditEntry(mongo, action, () => setPaused(mongo, change), {
    explain,
    onUnended,
  });
  try {
    await withTimeout(made, TIMEOUT);
    logger.info({ clientId, paused, operator }, "client changed on the operator's screen");
    return { status: 200, body: { clientId, paused } };
  } catch (error) {
    if (error instanceof Error && error.name === 'DirectoryError') {
      return no(400, 'NOT_POSSIBLE', error.message);
    }
    return no(503, 'NOT_CONFIRMED', `${explain(error)}; look whether it was changed`);
  }
}

/** A wrong token may come in crowds: the log has the first of a second, and how many more there were. */
function logRejection(
  { logger }: ChangeParts,
  req: IncomingMessage,
  { status: code, body: { reason } }: Rejection,
): void {
  const kind = { level: 'warn', text: 'operator request rejected', reason, code } as const;
  foldedLog(logger)(kind, { address: req.socket.remoteAddress });
}

/** Before the body is read. */
function rejectionOf(req: IncomingMessage, { token, tries }: ChangeParts): Rejection | undefined {
  if (token === '') {
    return no(404, 'CHANGES_OFF', 'nothing can be changed here: OPERATOR_TOKEN is not set');
  }
  if (!isFromHere(req)) return no(403, 'CROSS_SITE', 'a request of another site is not taken');
  const given = /^Bearer (\S+)$/.exec(req.headers.authorization ?? '')?.[1];
  if (given === undefined) return no(401, 'TOKEN_MISSING', 'Authorization: Bearer <token>');
  if (!isSame(given, token)) return wrongToken(req.socket.remoteAddress ?? '', tries);
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? '')) {
    return no(415, 'NOT_JSON', 'the content type has to be application/json');
  }
  return undefined;
}

/** Only wrong tokens are counted: someone who sends ten of them must not lock out the operator. */
function wrongToken(address: string, tries: Tries): Rejection {
  if (!tries.mayTry(address)) {
    return no(429, 'TOO_MANY_TRIES', 'too many wrong tokens: try again in a minute');
  }
  tries.wrong(address);
  return no(401, 'TOKEN_WRONG', 'it is not OPERATOR_TOKEN');
}

/** A browser names the site of a page that sends a POST; a program names none. */
function isFromHere({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}

/** In constant time, whatever their lengths. */
const isSame = (given: string, token: string) => timingSafeEqual(digest(given), digest(token));
const digest = (text: string) => createHash('sha256').update(text).digest();

/** @returns undefined where it is too long, or no JSON */
async function readJson(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req) {
      size += chunk.length;
      if (size > MOST_BYTES) return undefined;
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    // Cut off, or not JSON: either way nothing is to be done.
    return undefined;
  }
}

const no = (status: number, reason: string, message: string): Rejection => ({
  status,
  body: { reason, message },
});

const explain = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
