/**
 * The process that pushes: as many connections as a round wants, each sending its next push as soon as
 * the last one was answered. Told what to do over IPC, a round at a time.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import { summarize } from '../../harness/figures';
import { timestampNow } from '../../harness/sender';
import { type LeanAnswer, type LeanConnection, openConnection } from './connection';
import {
  type BenchPush,
  createFilePushes,
  createPushes,
  hotKeyOf,
  type KeyChoice,
  keysBeside,
} from './pushes';
import { openWindow, type Turning, type Until, type Window } from './window';

process.on('message', (round) => {
  const turning: Turning = (turn) => process.send?.({ turn });
  runRound(round as Round, turning).then(
    (result) => process.send?.({ result }),
    (error) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
// Whoever started it ends the round in order; Ctrl-C reaches both.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });

export interface Round {
  /** Of the web processes; the connections are spread over them. */
  readonly ports: readonly number[];
  readonly clientId: string;
  readonly systemCode: string;
  readonly secret: string;
  readonly connections: number;
  readonly keys: KeyChoice | 'file';
  /** Where that is what is pushed: its path. */
  readonly file?: string;
  /**
   * Connections besides that push one hot key, as fast as it goes; of them only failures are told. Those
   * that are measured push into other partitions then.
   */
  readonly hot?: number;
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
async function runRound(round: Round, turning: Turning): Promise<RoundResult> {
  const next = pushesOf(round);
  const request = createRequests(round);
  const connections = await openConnections(round, round.connections);
  const hot = await openConnections(round, round.hot ?? 0);
  const about = { connections: connections.length, now: performance.now(), turning };
  const tally = new Tally(openWindow(round.until, about));
  const nextHot = createPushes('hot', round.name);
  try {
    await Promise.all([
      ...connections.map((connection, n) => pushOver(connection, () => request(next(n)), tally)),
      ...hot.map((connection) => pushBeside(connection, () => request(nextHot()), tally)),
    ]);
    return tally.result();
  } finally {
    for (const connection of [...connections, ...hot]) connection.close();
  }
}

const openConnections = ({ ports }: Round, count: number): Promise<LeanConnection[]> =>
  Promise.all(
    Array.from({ length: count }, (_, n) => openConnection(ports[n % ports.length] as number)),
  );

/** The same without a part in what is counted. */
async function pushBeside(
  connection: LeanConnection,
  next: () => Buffer,
  tally: Tally,
): Promise<void> {
  while (tally.window.isOpen(performance.now())) tally.addBeside(await connection.send(next()));
}

/** Until the round is over. */
async function pushOver(
  connection: LeanConnection,
  next: () => Buffer,
  tally: Tally,
): Promise<void> {
  for (let sent = 0; ; sent += 1) {
    const sentAt = performance.now();
    if (!tally.window.isOpen(sentAt)) return;
    const answer = await connection.send(next());
    const endedAt = performance.now();
    tally.window.answered(endedAt, sent === 0);
    tally.add(answer, sentAt, endedAt);
  }
}

/** What was answered in a round. */
class Tally {
  private accepted = 0;
  private readonly times: number[] = [];
  private readonly others: Record<string, number> = {};

  constructor(readonly window: Window) {}

  add({ status, body }: LeanAnswer, sentAt: number, endedAt: number): void {
    const code = codeOf(body);
    if (code === 0) {
      if (this.window.counts(endedAt)) this.accepted += 1;
      if (this.window.counts(sentAt)) this.times.push(endedAt - sentAt);
      return;
    }
    this.count(`${status} ${reasonOf(body) ?? code}`);
  }

  addBeside({ status, body }: LeanAnswer): void {
    const code = codeOf(body);
    if (code !== 0) this.count(`${status} ${reasonOf(body) ?? code}`);
  }

  private count(what: string): void {
    this.others[what] = (this.others[what] ?? 0) + 1;
  }

  result(): RoundResult {
    const { accepted, others, times, window } = this;
    const max = times.reduce((most, time) => Math.max(most, time), 0);
    return { accepted, others, elapsed: window.elapsed(), ...summarize(times), max };
  }
}

function pushesOf(round: Round): (connection: number) => BenchPush {
  const { keys, name, file, connections, hot, systemCode } = round;
  if (hot !== undefined) {
    return createPushes('distinct', name, keysBeside(name, systemCode, hotKeyOf(name)));
  }
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
    const timestamp = timestampNow();
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
