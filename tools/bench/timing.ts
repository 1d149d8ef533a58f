/**
 * `npm run bench -- timing`: checks that the time of a rejection does not reveal whether a client id exists, or how
 * much of a signature is right. It sends invalid requests of several kinds, one at a time, in random order. For each
 * kind it prints the probability that its rejection takes longer than that of a wrong signature of a known client.
 * The exit code is 1 if a kind can be told apart.
 *
 * A kind counts as told apart if the probability differs from 0.5 by 4 standard errors (0.037 at 2,000 tries).
 * Without any difference, one run in 3,000 would still report a kind, because a run makes five comparisons. The first
 * kind is measured twice: its two halves must agree within the same bound, which shows that the machine was quiet
 * enough.
 *
 * Without a gap, few of these rejections are logged (at most 10 per second and client). With `--gap 50 --tries 500`
 * all of them are logged; this takes three minutes.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connectMongo } from '../../src/infra/mongo';
import { sign } from '../../src/protocol/signature';
import { createClientAdmin } from '../../src/storage/directory';
import { createKeyRing } from '../../src/storage/directory/sealing';
import { prepareDatabase } from '../../src/storage/schema';
import { SECRET_KEYS, startLoneWeb } from '../harness/app';
import { createClients } from '../harness/directory';
import { summarizeFigures } from '../harness/figures';
import { textTable } from '../harness/report';
import { HttpSender, type SigningCaller, signedHeaders, timestampNow } from '../harness/sender';
import { withServers } from '../harness/servers';
import type { RunContext } from '../local/run-context';

const BODY = Buffer.from(JSON.stringify({ matterType: 'TODO', externalId: 'T', title: 'x' }));
const PATH = '/api/open/matters/upsert';
/** Milliseconds for an answer. */
const TIMEOUT = 60_000;
/** Tries that do not count, because the process compiles its code and opens the connection. */
const WARM_UP = 200;
const BOUND_ERRORS = 4;
const DAY = 86_400_000;

interface Options {
  readonly tries: number;
  /** Milliseconds between requests. */
  readonly gap: number;
  readonly json: boolean;
}

interface Attempt {
  readonly clientId: string;
  readonly signature: string;
}

interface Kind {
  readonly name: string;
  readonly attempt: (timestamp: string) => Attempt;
}

/** @returns the exit code: 1 if a kind can be told apart, or if the machine was too noisy */
export async function run({ root, args, say }: RunContext): Promise<number> {
  const options = readOptions(args);
  return withServers({ say }, async ({ folder, mongo, redis, releasers }) => {
    const { known, disabled } = await createCallers(mongo.url);
    const servers = { mongoUrl: mongo.url, redisUrl: redis.url, namespace: 'timing' };
    const web = await startLoneWeb({ root, folder }, servers);
    releasers.add(web.stop);
    const sender = new HttpSender(web.url, TIMEOUT);
    releasers.add(() => sender.close());
    say(`${options.tries} tries of each kind`);
    const kinds = kindsOf(known, disabled);
    return report(kinds, await measure(sender, kinds, options), options);
  });
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      tries: { type: 'string', default: '2000' },
      gap: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
    },
  });
  const [tries = 0, gap = Number.NaN] = [values.tries, values.gap].map(Number);
  if (!(tries > 0) || !(gap >= 0)) throw new Error('--tries and --gap are numbers');
  return { tries, gap, json: values.json };
}

async function createCallers(
  mongoUrl: string,
): Promise<{ known: SigningCaller; disabled: SigningCaller }> {
  const connection = await connectMongo(mongoUrl);
  try {
    const settings = { retention: DAY, bodyRetention: DAY, concluded: [] };
    await prepareDatabase(connection, settings);
    const ids = ['known-client', 'disabled-one'];
    const [known, disabled] = await createClients(
      connection,
      ids.map((clientId) => ({ clientId, systemCode: 'TIMING' })),
    );
    if (!known || !disabled) throw new Error('the clients were not created');
    const admin = createClientAdmin(connection, createKeyRing([SECRET_KEYS]), Date.now);
    await admin.setEnabled(disabled.clientId, false);
    return { known, disabled };
  } finally {
    await connection.close();
  }
}

/** The first two kinds are equal. All ids have the same length, so that all requests have the same length. */
function kindsOf(known: SigningCaller, disabled: SigningCaller): Kind[] {
  const wrong = () => randomBytes(32).toString('hex');
  const of = (name: string, clientId: () => string): Kind => ({
    name,
    attempt: () => ({ clientId: clientId(), signature: wrong() }),
  });
  const halfRight = (timestamp: string) => {
    const right = sign(known.secret, known.clientId, timestamp, BODY);
    const signature = right.slice(0, 32) + wrong().slice(32);
    return { clientId: known.clientId, signature };
  };
  return [
    of('known client, wrong signature', () => known.clientId),
    of('the same, second half', () => known.clientId),
    of('unknown client, one id', () => 'unknown-once'),
    of('unknown client, a new id each time', () => randomBytes(6).toString('hex')),
    of('disabled client, wrong signature', () => disabled.clientId),
    { name: 'known client, 32 digits right', attempt: halfRight },
  ];
}

/** @returns milliseconds by kind. Each round tries every kind once, in random order */
async function measure(
  sender: HttpSender,
  kinds: readonly Kind[],
  { tries, gap }: Options,
): Promise<number[][]> {
  const samples = kinds.map((): number[] => []);
  for (let round = -WARM_UP; round < tries; round += 1) {
    for (const index of shuffled(kinds.length)) {
      const timestamp = timestampNow();
      const attempt = kinds[index]?.attempt(timestamp);
      if (!attempt) continue;
      if (gap > 0 && round >= 0) await sleep(gap);
      const ms = await rejectionTime(sender, timestamp, attempt);
      if (round >= 0) samples[index]?.push(ms);
    }
  }
  return samples;
}

function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, n) => n);
  for (let at = count - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1);
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  return order;
}

/** @throws Error if the reason of the answer is not SIGNATURE_MISMATCH, which every kind must get */
async function rejectionTime(
  sender: HttpSender,
  timestamp: string,
  { clientId, signature }: Attempt,
): Promise<number> {
  const headers = signedHeaders({ clientId, secret: '' }, BODY, timestamp, signature);
  const { text, sentAt, endedAt } = await sender.post(PATH, headers, BODY);
  if (JSON.parse(text).reason !== 'SIGNATURE_MISMATCH') throw new Error(`answered ${text}`);
  return endedAt - sentAt;
}

function report(kinds: readonly Kind[], samples: readonly number[][], options: Options): number {
  const [base = []] = samples;
  const bound = BOUND_ERRORS * standardError(options.tries);
  const rows = kinds.map(({ name }, index) => {
    const sample = samples[index] ?? [];
    const auc = areaUnderCurve(base, sample);
    const isTold = Math.abs(auc - 0.5) > bound;
    return { kind: name, n: sample.length, ...summarizeFigures(sample), auc, isTold };
  });
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ ...options, bound, rows }, null, 2)}\n`);
  } else {
    const head = ['kind', 'n', 'p50 ms', 'p99 ms', 'AUC', `0.5 ± ${bound.toFixed(3)}`];
    const lines = rows.map(({ kind, n, p50, p99, auc, isTold }, index) => [
      ...[kind, n, p50.toFixed(3), p99.toFixed(3)],
      ...(index === 0 ? ['', ''] : [auc.toFixed(4), isTold ? 'TOLD APART' : 'pass']),
    ]);
    process.stdout.write(`\n${textTable(lines, head)}\n`);
  }
  return rows.some(({ isTold }) => isTold) ? 1 : 0;
}

/**
 * The probability that a value of `others` is larger than a value of `base`; ties count half (Mann-Whitney U over
 * n·m). 0.5: no difference; 1: every value of `others` is larger.
 */
export function areaUnderCurve(base: readonly number[], others: readonly number[]): number {
  const all = [
    ...base.map((value) => ({ value, isOther: false })),
    ...others.map((value) => ({ value, isOther: true })),
  ].sort((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let first = 0; first < all.length; ) {
    let end = first;
    while (all[end]?.value === all[first]?.value && end < all.length) end += 1;
    const tied = all.slice(first, end);
    // Ranks start at 1. Equal values get the mean of their ranks.
    rankSum += tied.filter(({ isOther }) => isOther).length * ((first + 1 + end) / 2);
    first = end;
  }
  const minRankSum = (others.length * (others.length + 1)) / 2;
  return (rankSum - minRankSum) / (base.length * others.length);
}

/** The standard error of the area if both samples of `n` values have the same distribution. */
export const standardError = (n: number): number => Math.sqrt((2 * n + 1) / (12 * n * n));
