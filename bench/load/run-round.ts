/** One round of pushes, and what came of it. */
import { createHmac, createSecretKey } from 'node:crypto';
import { summarize } from '../table';
import { type LeanConnection, openConnection } from './connection';
import { createPushes, type KeyChoice } from './pushes';

export interface Round {
  /** Of the ingresses; the connections are spread over them. */
  readonly ports: readonly number[];
  readonly clientId: string;
  readonly secret: string;
  readonly connections: number;
  readonly keys: KeyChoice;
  /** Part of all keys of the round. */
  readonly name: string;
  /**
   * Milliseconds before what happens counts. It takes longer where some connection has not had its
   * first answer by then: until that, a slow service would seem slower than it is.
   */
  readonly warmUp: number;
  /** Milliseconds that count. */
  readonly duration: number;
}

export interface RoundResult {
  /** Answered with code 0 within the counted time. */
  readonly accepted: number;
  /** The same at any time of the round. */
  readonly acceptedInAll: number;
  /** Whatever else was answered at any time, by status and code. */
  readonly others: Readonly<Record<string, number>>;
  /** Milliseconds that were counted. */
  readonly elapsed: number;
  /** Of what was sent within the counted time and accepted, then or later; milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Milliseconds that the first answers may take beyond the warm-up. */
const MOST_WARM_UP = 20_000;
const PATH = '/api/open/matters/';

/** @throws Error where a connection cannot be opened, or breaks */
export async function runRound(round: Round): Promise<RoundResult> {
  const next = createPushes(round.keys, round.name);
  const request = createRequests(round);
  const connections = await Promise.all(
    Array.from({ length: round.connections }, (_, n) =>
      openConnection(round.ports[n % round.ports.length] as number),
    ),
  );
  const times: number[] = [];
  const others: Record<string, number> = {};
  const warm = performance.now() + round.warmUp;
  const counted = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  let [accepted, acceptedInAll, answeredOnce] = [0, 0, 0];
  const begin = (now: number) => {
    const isReady = answeredOnce === connections.length || now > warm + MOST_WARM_UP;
    if (counted.from < now || now < warm || !isReady) return;
    Object.assign(counted, { from: now, to: now + round.duration });
  };
  const send = async (connection: LeanConnection) => {
    for (let sent = 0; ; sent += 1) {
      const sentAt = performance.now();
      if (sentAt >= counted.to) return;
      const { status, body } = await connection.send(request(next()));
      const endedAt = performance.now();
      if (sent === 0) answeredOnce += 1;
      const code = codeOf(body);
      if (code === 0) {
        acceptedInAll += 1;
        if (endedAt >= counted.from && endedAt < counted.to) accepted += 1;
        if (sentAt >= counted.from) times.push(endedAt - sentAt);
      } else others[`${status} ${code}`] = (others[`${status} ${code}`] ?? 0) + 1;
      begin(endedAt);
    }
  };
  try {
    await Promise.all(connections.map(send));
    const max = times.reduce((most, time) => Math.max(most, time), 0);
    return { accepted, acceptedInAll, others, elapsed: round.duration, ...summarize(times), max };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** The code stands at the front of every envelope: parsing all of it would be the caller's work. */
const CODE = /"code":(\d+)/;

function codeOf(body: Buffer): number {
  return Number(CODE.exec(body.toString('latin1', 0, 64))?.[1] ?? Number.NaN);
}

/** @returns signed requests, ready to be written to a socket */
function createRequests({ clientId, secret }: Round) {
  const key = createSecretKey(Buffer.from(secret));
  return ({ operation, body }: { operation: string; body: string }): Buffer => {
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', key)
      .update(`${clientId}\n${timestamp}\n${body}`)
      .digest('hex');
    return Buffer.from(
      `POST ${PATH}${operation} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Client-Id: ${clientId}\r\n` +
        `X-Timestamp: ${timestamp}\r\nX-Signature: ${signature}\r\n\r\n${body}`,
    );
  };
}
