/** One round of pushes, and what came of it. */
import { createHmac, createSecretKey } from 'node:crypto';
import { summarize } from '../table';
import { type LeanConnection, openConnection } from './connection';
import { createFilePushes } from './file-pushes';
import { type BenchPush, createPushes, type KeyChoice } from './pushes';
import { openWindow, type Turning, type Until } from './window';

export interface Round {
  /** Of the web processes; the connections are spread over them. */
  readonly ports: readonly number[];
  readonly clientId: string;
  readonly secret: string;
  readonly connections: number;
  readonly keys: KeyChoice | 'file';
  /** Where that is what is pushed: its path. */
  readonly file?: string;
  /** Part of all keys of the round. */
  readonly name: string;
  /** When it ends: by the clock, or after so many pushes, all of which count. */
  readonly until: Until;
}

export interface RoundResult {
  /** Answered with code 0 within the counted time. */
  readonly accepted: number;
  /** Whatever else was answered at any time, by status and the envelope's reason (or else its code). */
  readonly others: Readonly<Record<string, number>>;
  /** Milliseconds that were counted. */
  readonly elapsed: number;
  /** Of what was sent within the counted time and accepted, then or later; milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const PATH = '/api/open/matters/';

/** @throws Error where a connection cannot be opened, or breaks */
export async function runRound(round: Round, turning: Turning): Promise<RoundResult> {
  const next = pushesOf(round);
  const request = createRequests(round);
  const connections = await Promise.all(
    Array.from({ length: round.connections }, (_, n) =>
      openConnection(round.ports[n % round.ports.length] as number),
    ),
  );
  const times: number[] = [];
  const others: Record<string, number> = {};
  let accepted = 0;
  const about = { connections: connections.length, now: performance.now(), turning };
  const window = openWindow(round.until, about);
  const send = async (connection: LeanConnection, number: number) => {
    for (let sent = 0; ; sent += 1) {
      const sentAt = performance.now();
      if (!window.isOpen(sentAt)) return;
      const { status, body } = await connection.send(request(next(number)));
      const endedAt = performance.now();
      window.answered(endedAt, sent === 0);
      const code = codeOf(body);
      if (code === 0) {
        if (window.counts(endedAt)) accepted += 1;
        if (window.counts(sentAt)) times.push(endedAt - sentAt);
      } else {
        const what = `${status} ${reasonOf(body) ?? code}`;
        others[what] = (others[what] ?? 0) + 1;
      }
    }
  };
  try {
    await Promise.all(connections.map(send));
    const max = times.reduce((most, time) => Math.max(most, time), 0);
    const elapsed = window.elapsed();
    return { accepted, others, elapsed, ...summarize(times), max };
  } finally {
    for (const connection of connections) connection.close();
  }
}

function pushesOf({ keys, name, file, connections }: Round): (connection: number) => BenchPush {
  if (keys !== 'file') return createPushes(keys, name);
  if (file === undefined) throw new Error('a round of the pushes of a file, without the file');
  return createFilePushes(file, connections);
}

/** The code stands at the front of every envelope: parsing all of it would be the caller's work. */
const CODE = /"code":(\d+)/;

function codeOf(body: Buffer): number {
  return Number(CODE.exec(body.toString('latin1', 0, 64))?.[1] ?? Number.NaN);
}

const REASON = /"reason":"(\w+)"/;

function reasonOf(body: Buffer): string | undefined {
  return REASON.exec(body.toString('latin1'))?.[1];
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
