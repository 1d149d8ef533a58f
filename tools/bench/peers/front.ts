/**
 * The common part of all peers except bulk-write: Koa, raw body, signature, validation. It uses the checks of the
 * product, so that the contenders differ only in the steps after them.
 */

import { createHash, randomBytes } from 'node:crypto';
import Koa from 'koa';
import getRawBody from 'raw-body';
import { OPERATIONS, type Operation, type OperationName } from '../../../src/domain/operation';
import { announceReady, runMain } from '../../../src/infra/lifecycle';
import { parseJsonBody } from '../../../src/protocol/json-body';
import { createBodyParsers } from '../../../src/protocol/requests';
import { verify } from '../../../src/protocol/signature';

/** A valid push, as JSON values. */
export interface PeerPush {
  /** 24 hex digits. */
  readonly id: string;
  readonly clientId: string;
  readonly systemCode: string;
  readonly externalId: string;
  readonly operation: Operation;
  readonly bodyHash: string;
  readonly bodySize: number;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

export interface PeerOutcome {
  readonly matterId: string;
  readonly outcome: string;
}

/** The only client of a peer, from the JSON in the environment variable PEER_CLIENT. */
interface PeerClient {
  readonly clientId: string;
  readonly systemCode: string;
  readonly secret: string;
}

const PREFIX = '/api/open/matters/';
const MAX_BODY = 2 * 1024 * 1024;
const WINDOW_MS = 300_000;

/** @param handle applies a push; if it throws, the answer is 503 */
export function servePeer(handle: (push: PeerPush) => Promise<PeerOutcome>): void {
  const client: PeerClient = JSON.parse(process.env.PEER_CLIENT ?? '{}');
  const parsers = createBodyParsers({ timeZone: 'Asia/Shanghai', clock: Date.now });
  const app = new Koa();
  app.use(async (ctx) => {
    const receivedAt = Date.now();
    const id = randomBytes(12).toString('hex');
    const operation = ctx.path.slice(PREFIX.length) as OperationName;
    if (!ctx.path.startsWith(PREFIX) || !OPERATIONS.includes(operation)) return;
    const answer = (status: number, code: number, data?: unknown) => {
      ctx.status = status;
      ctx.body = { code, message: code === 0 ? 'success' : 'failed', requestId: id, data };
    };
    const body = await getRawBody(ctx.req, { limit: MAX_BODY });
    const timestamp = ctx.get('X-Timestamp');
    const isFresh = Math.abs(receivedAt - Number(timestamp) * 1_000) <= WINDOW_MS;
    const { clientId, systemCode, secret } = client;
    const isSigned =
      ctx.get('X-Client-Id') === clientId &&
      verify(secret, clientId, timestamp, body, ctx.get('X-Signature'));
    if (!isFresh || !isSigned) return answer(401, 401);
    const parsed = parsers[operation](parseJsonBody(body));
    if (!parsed.success) return answer(400, 400, parsed.error.issues);
    const externalId = parsed.data.externalId ?? id;
    const push: PeerPush = {
      ...{ id, clientId, systemCode, externalId, operation: parsed.data.operation },
      ...{ bodyHash: createHash('sha256').update(body).digest('hex') },
      ...{ bodySize: body.length, receivedAt },
    };
    try {
      answer(200, 0, { ...(await handle(push)), externalId });
    } catch (error) {
      process.stderr.write(`${error}\n`);
      answer(503, 503);
    }
  });
  app.listen(Number(process.env.PORT), '127.0.0.1', () => announceReady({}));
}

/** Runs a peer until its IPC channel closes, which happens when its parent ends or stops it. */
export function runPeer(main: () => Promise<void>): void {
  process.on('disconnect', () => process.exit());
  process.on('SIGTERM', () => process.exit());
  runMain(main);
}
