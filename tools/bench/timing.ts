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
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { sign } from '../../src/protocol/signature';
import { createClientAdmin } from '../../src/storage/directory/client-admin';
import { createKeyRing } from '../../src/storage/directory/sealing';
import { prepareDatabase } from '../../src/storage/indexes';
import { connectMongo } from '../../src/storage/mongo';
import type { RunContext } from '../local/run-context';
import type { Caller } from './caller';
import { withServers } from './servers';
import { SECRET_KEYS, startBenchWeb } from './service';
import { summarize } from './table';
import { areaUnderCurve, standardError } from './timing-statistic';

const BODY = Buffer.from(JSON.stringify({ matterType: 'TODO', externalId: 'T', title: 'x' }));
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
    const { known, disabled } = await createClients(mongo.url);
    const servers = { mongoUrl: mongo.url, redisUrl: redis.url };
    const web = await startBenchWeb({ root, folder, ...servers, name: 'timing' });
    releasers.add(web.stop);
    say(`${options.tries} tries of each kind`);
    const kinds = kindsOf(known, disabled);
    const samples = await measure(`${web.url}/api/open/matters/upsert`, kinds, options);
    return report(kinds, samples, options);
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

async function createClients(mongoUrl: string): Promise<{ known: Caller; disabled: Caller }> {
  const connection = await connectMongo(mongoUrl);
  try {
    const settings = { retention: DAY, bodyRetention: DAY, concluded: [] };
    await prepareDatabase(connection, settings);
    const admin = createClientAdmin(connection, createKeyRing([SECRET_KEYS]), Date.now);
    const create = async (clientId: string): Promise<Caller> => {
      const { secret } = await admin.create({ clientId, systemCode: 'TIMING' });
      return { clientId, secret: secret ?? '' };
    };
    const known = await create('known-client');
    const disabled = await create('disabled-one');
    await admin.setEnabled(disabled.clientId, false);
    return { known, disabled };
  } finally {
    await connection.close();
  }
}

/** The first two are the same. Ids have the same length, so that the requests have too. */
function kindsOf(known: Caller, disabled: Caller): Kind[] {
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
  url: string,
  kinds: readonly Kind[],
  { tries, gap }: Options,
): Promise<number[][]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const samples = kinds.map((): number[] => []);
  for (let round = -WARM_UP; round < tries; round += 1) {
    for (const index of shuffled(kinds.length)) {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const attempt = kinds[index]?.attempt(timestamp);
      if (!attempt) continue;
      if (gap > 0 && round >= 0) await sleep(gap);
      const ms = await rejectionTime(url, agent, timestamp, attempt);
      if (round >= 0) samples[index]?.push(ms);
    }
  }
  agent.destroy();
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
function rejectionTime(url: string, agent: Agent, timestamp: string, attempt: Attempt) {
  const headers = {
    'Content-Length': BODY.length,
    'X-Client-Id': attempt.clientId,
    'X-Timestamp': timestamp,
    'X-Signature': attempt.signature,
  };
  return new Promise<number>((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const ms = performance.now() - started;
        if (JSON.parse(text).reason === 'SIGNATURE_MISMATCH') resolve(ms);
        else reject(new Error(`answered ${text}`));
      });
    });
    sent.on('error', reject);
    const started = performance.now();
    sent.end(BODY);
  });
}

function report(kinds: readonly Kind[], samples: readonly number[][], options: Options): number {
  const [base = []] = samples;
  const bound = BOUND_ERRORS * standardError(options.tries);
  const rows = kinds.map(({ name }, index) => {
    const sample = samples[index] ?? [];
    const auc = areaUnderCurve(base, sample);
    const isTold = Math.abs(auc - 0.5) > bound;
    return { kind: name, n: sample.length, ...summarize(sample), auc, isTold };
  });
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ ...options, bound, rows }, null, 2)}\n`);
  } else {
    const head = ['kind', 'n', 'p50 ms', 'p99 ms', 'AUC', `0.5 ± ${bound.toFixed(3)}`];
    const table = new Table({ head, style: { head: [], border: [] } });
    for (const [index, { kind, n, p50, p99, auc, isTold }] of rows.entries()) {
      const verdict = isTold ? 'TOLD APART' : 'pass';
      const compared = index === 0 ? ['', ''] : [auc.toFixed(4), verdict];
      table.push([kind, n, p50.toFixed(3), p99.toFixed(3), ...compared]);
    }
    process.stdout.write(`\n${table.toString()}\n`);
  }
  return rows.some(({ isTold }) => isTold) ? 1 : 0;
}
