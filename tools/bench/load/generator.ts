/**
 * The process that generates the load. Each connection sends its next push as soon as the last one is answered. The
 * parent process sends one round at a time over IPC.
 */
import { createHmac, createSecretKey } from 'node:crypto';
import { BATCH_PATH, pushPath } from '../../../src/protocol/paths';
import { summarizeFigures } from '../../harness/figures';
import { timestampNow } from '../../harness/sender';
import { type LeanAnswer, type LeanConnection, openConnection } from './connection';
import {
  type BenchPush,
  createFilePushes,
  createLoadPushes,
  hotKeyOf,
  type KeyChoice,
  keysBeside,
} from './pushes';
import { type BoundaryListener, type LoadWindow, openWindow, type Until } from './window';

process.on('message', (round) => {
  const onBoundary: BoundaryListener = (boundary) => process.send?.({ boundary });
  runRound(round as Round, onBoundary).then(
    (result) => process.send?.({ result }),
    (error) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
// Ctrl-C reaches the parent too, and the parent ends this process.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });

export interface Round {
  /** Ports of the web processes. The connections are spread over them. */
  readonly ports: readonly number[];
  readonly clientId: string;
  readonly systemCode: string;
  readonly secret: string;
  readonly connections: number;
  readonly keys: KeyChoice | 'file';
  /** The path of the file, if `keys` is `file`. */
  readonly file?: string;
  /**
   * Additional connections, which push one hot key as fast as possible. Only their failures are reported. If this is
   * defined, even as 0, the measured connections push into other partitions.
   */
  readonly hot?: number;
  /** Pushes per request, if the round sends batches. */
  readonly lines?: number;
  /** All keys of the round contain this name, except those of a file. */
  readonly name: string;
  /** The end of the round: after some time, or after some pushes. In the second case all pushes count. */
  readonly until: Until;
}

export interface RoundResult {
  /** Pushes answered with code 0 during the measurement. */
  readonly accepted: number;
  /** All other answers of the round, by status and reason of the envelope (or its code, if it has no reason). */
  readonly others: Readonly<Record<string, number>>;
  /** Duration of the measurement in milliseconds. */
  readonly elapsed: number;
  /**
   * Latency in milliseconds of the accepted requests that were sent during the measurement. Their answers may come
   * later.
   */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** @throws Error if a connection cannot be opened, or breaks */
async function runRound(round: Round, onBoundary: BoundaryListener): Promise<RoundResult> {
  const next = pushesOf(round);
  const request = createRequests(round);
  const nextRequest = requestsOf(round, next, request);
  const connections = await openConnections(round, round.connections);
  const hot = await openConnections(round, round.hot ?? 0);
  const about = { connections: connections.length, now: performance.now(), onBoundary };
  const tally = new Tally(openWindow(round.until, about), round.lines);
  const nextHotPush = createLoadPushes('hot', round.name);
  const nextHot = () => request(pushPath('upsert'), nextHotPush().body);
  try {
    await Promise.all([
      ...connections.map((connection, n) => pushOver(connection, () => nextRequest(n), tally)),
      ...hot.map((connection) => pushBeside(connection, nextHot, tally)),
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

/** Pushes over a connection that is not measured. */
async function pushBeside(
  connection: LeanConnection,
  next: () => Buffer,
  tally: Tally,
): Promise<void> {
  while (tally.window.isOpen(performance.now())) tally.addBeside(await connection.send(next()));
}

/** Pushes over a measured connection until the end of the round. */
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

/** Counts the answers of a round. */
class Tally {
  private accepted = 0;
  private readonly times: number[] = [];
  private readonly others: Record<string, number> = {};

  /** @param lines pushes per request */
  constructor(
    readonly window: LoadWindow,
    private readonly lines = 1,
  ) {}

  add({ status, body }: LeanAnswer, sentAt: number, endedAt: number): void {
    const code = codeOf(body);
    const failed = code === 0 ? 0 : this.countFailed(status, code, body);
    if (this.window.counts(endedAt)) this.accepted += this.lines - failed;
    if (failed < this.lines && this.window.counts(sentAt)) this.times.push(endedAt - sentAt);
  }

  addBeside({ status, body }: LeanAnswer): void {
    const code = codeOf(body);
    if (code !== 0) this.count(`${status} ${reasonOf(body) ?? code}`);
  }

  /** @returns how many pushes of the request were not accepted */
  private countFailed(status: number, code: number, body: Buffer): number {
    if (code !== PARTIAL) {
      this.count(`${status} ${reasonOf(body) ?? code}`, this.lines);
      return this.lines;
    }
    const { results }: { results: LineResult[] } = JSON.parse(body.toString()).data;
    const failed = results.filter((result) => result.code !== 0);
    for (const result of failed) this.count(`${result.code} ${result.reason}`);
    return failed.length;
  }

  private count(what: string, pushes = 1): void {
    this.others[what] = (this.others[what] ?? 0) + pushes;
  }

  result(): RoundResult {
    const { accepted, others, times, window } = this;
    const max = times.reduce((highest, time) => Math.max(highest, time), 0);
    return { accepted, others, elapsed: window.elapsed(), ...summarizeFigures(times), max };
  }
}

function pushesOf(round: Round): (connection: number) => BenchPush {
  const { keys, name, file, connections, hot, systemCode } = round;
  if (hot !== undefined) {
    return createLoadPushes('distinct', name, keysBeside(name, systemCode, hotKeyOf(name)));
  }
  if (keys !== 'file') return createLoadPushes(keys, name);
  if (file === undefined) throw new Error('a round of the pushes of a file, without the file');
  return createFilePushes(file, connections);
}

/** The status of a batch in which some lines failed. */
const PARTIAL = 207;

interface LineResult {
  readonly code: number;
  readonly reason?: string;
}

/** Every envelope begins with the code. Parsing the whole envelope would cost too much processor time. */
const CODE = /"code":(\d+)/;

function codeOf(body: Buffer): number {
  return Number(CODE.exec(body.toString('latin1', 0, 64))?.[1] ?? Number.NaN);
}

const REASON = /"reason":"(\w+)"/;

function reasonOf(body: Buffer): string | undefined {
  return REASON.exec(body.toString('latin1'))?.[1];
}

/** @returns the next request of a connection: one push, or a batch of `lines` pushes */
function requestsOf(
  { lines }: Round,
  next: (connection: number) => BenchPush,
  request: ReturnType<typeof createRequests>,
): (connection: number) => Buffer {
  if (lines === undefined) {
    return (connection) => {
      const { operation, body } = next(connection);
      return request(pushPath(operation), body);
    };
  }
  const line = ({ operation, body }: BenchPush) => `{"op":"${operation}","body":${body}}\n`;
  return (connection) => {
    const pushes = Array.from({ length: lines }, () => line(next(connection)));
    return request(BATCH_PATH, pushes.join(''));
  };
}

/** @returns signed requests, ready to be written to a socket */
function createRequests({ clientId, secret }: Round) {
  const key = createSecretKey(Buffer.from(secret));
  return (path: string, body: string): Buffer => {
    const timestamp = timestampNow();
    const signature = createHmac('sha256', key)
      .update(`${clientId}\n${timestamp}\n${body}`)
      .digest('hex');
    return Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Client-Id: ${clientId}\r\n` +
        `X-Timestamp: ${timestamp}\r\nX-Signature: ${signature}\r\n\r\n${body}`,
    );
  };
}
