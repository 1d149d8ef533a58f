/**
 * `npm run bench -- timing`: does the time of a rejection tell whether a client id exists, or how much
 * of a signature is right? Sends rejected requests of several kinds, one at a time, in random order,
 * and gives for each kind the probability that it takes longer than a wrong signature of a known
 * client. Fails where one of them can be told apart.
 *
 * What counts as told apart: 4 standard errors of that probability (0.037 at 2,000 tries). Where
 * nothing differs, one run in 3,000 would show as much in one of five comparisons. The first kind is
 * measured twice; that its two halves agree within the same bound shows that the machine was quiet
 * enough for the others to mean something.
 *
 * As fast as it can, hardly any of these rejections is recorded (10 a second and client at most). A
 * patient caller's are: `--gap 50 --tries 500` asks that slowly, and takes three minutes.
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
/** Not counted: the process compiles its code, the connection is made. */
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

/** @returns the exit code: 1 where a kind can be told apart, or the machine was too noisy to say */
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

/** The first two are the same. Ids have the same length, so that the requests have too. */
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

/** @returns milliseconds by kind; each round tries every kind once, in an order of its own */
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

/** @throws Error where the answer is not the one that all kinds get */
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
 * The probability that a value of `others` is larger than one of `base`, ties counted half
 * (Mann-Whitney U over n·m). 0.5: nothing tells them apart; 1: every single one does.
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
    // Ranks count from 1; those who tie share the middle of theirs.
    rankSum += tied.filter(({ isOther }) => isOther).length * ((first + 1 + end) / 2);
    first = end;
  }
  const least = (others.length * (others.length + 1)) / 2;
  return (rankSum - least) / (base.length * others.length);
}

/** Of the area, where both samples of `n` come from the same source. */
export const standardError = (n: number): number => Math.sqrt((2 * n + 1) / (12 * n * n));
