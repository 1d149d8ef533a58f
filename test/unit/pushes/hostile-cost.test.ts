/**
 * No step on what a caller sends blocks the event loop for long. The processor time of the longest turn of the event
 * loop is compared with that of a plain, legal body of the same size: a ratio holds on a slow and on a busy machine.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runInSlices } from '../../../src/concurrency/turns';
import { readBatchLines } from '../../../src/protocol/batch-lines';
import { createIdLines } from '../../../src/protocol/id-lines';
import { parseJsonBody } from '../../../src/protocol/json-body';
import { createMatterQueryReaders } from '../../../src/protocol/matter-queries';
import { createBodyParsers } from '../../../src/protocol/requests';
import { readVerifyBody } from '../../../src/protocol/verify-body';
import { checkLines, createCheckBodies } from '../../../src/pushes/read-batch';
import { createCheckBody, validatePush } from '../../../src/pushes/validate';

const MIB = 1024 * 1024;
const LIMITS = { lines: 1_000, bodyBytes: MIB };
const TIME_ZONE = 'Asia/Shanghai';
const deps = {
  parsers: createBodyParsers({ timeZone: TIME_ZONE, clock: Date.now }),
  concluded: new Set<string>(),
  clock: Date.now,
  unknownUsers: async (names: readonly string[]) => [...names],
};
const checkBody = createCheckBody(deps);
const queries = createMatterQueryReaders(TIME_ZONE);
const HEADERS = { idempotencyKey: undefined, strictFields: false, headerErrors: [] };
const CONTEXT = { ...HEADERS, clientId: 'oa', operation: 'upsert', signature: 'x' } as const;

const push = (raw: Buffer) => validatePush(checkBody, raw, CONTEXT);
const batch = async (raw: Buffer) =>
  checkLines(
    { checkBodies: createCheckBodies(deps), limits: LIMITS },
    await runInSlices(readBatchLines(raw, LIMITS)),
    HEADERS,
  );
const list = (raw: Buffer) => {
  const ids = createIdLines();
  ids.take(raw);
  return ids.end();
};

/** So many parts, with commas between, as fit into so many bytes. */
function filled(make: (n: number) => string, bytes = MIB - 200): string {
  const parts: string[] = [];
  for (let size = 0; size < bytes; size += (parts.at(-1)?.length ?? 0) + 1) {
    parts.push(make(parts.length));
  }
  return parts.join(',');
}
const repeated = (line: string, bytes: number) =>
  line.repeat(Math.ceil(bytes / Buffer.byteLength(line)));
const lineOf = (body: string) => `{"op":"upsert","body":${body}}\n`;
const LINE_BYTES = (8 * MIB) / 1_000 - 50;

const PLAIN = Buffer.from(
  JSON.stringify({
    matterType: 'NOTICE',
    externalId: 'A',
    title: 'x',
    extra: 'y'.repeat(MIB - 100),
  }),
);

const PUSHES: Readonly<Record<string, string>> = {
  'unknown fields': `{${filled((n) => `"f${n}":1`)}}`,
  'empty lists': `{"a":[${filled(() => '[]')}]}`,
  numbers: `{"a":[${filled(() => '1')}]}`,
  'parties that are numbers': `{"parties":[${filled(() => '1')}]}`,
  'parties without fields': `{"parties":[${filled(() => '{}')}]}`,
  depth: `{"a":${'['.repeat(MIB / 2)}${']'.repeat(MIB / 2)}}`,
  'depth without an end': `{"a":${'['.repeat(MIB)}`,
  'names that are like a known one': `{${filled((n) => `"initiatorUsernam${n}":1`, 1_000)}}`,
  'long names': `{${Array.from({ length: 20 }, (_, n) => `"${n}${'n'.repeat(50_000)}":1`)}}`,
  'a long number': `{"a":${'9'.repeat(MIB - 10)}}`,
  'escaped characters': `{"title":"${'\\u4e8b'.repeat(MIB / 6 - 10)}"}`,
  'a status': `{"externalId":"A","bizStatus":"${'A_'.repeat(MIB / 2 - 50)}a"}`,
  'payload of brackets': JSON.stringify({ payloadJson: '['.repeat(MIB - 100) }),
  'a blank link': JSON.stringify({ pcUrl: ' '.repeat(MIB - 100) }),
  'the same field again': `{${filled(() => '"a":1')}}`,
};

const BATCHES: Readonly<Record<string, string>> = {
  'one long line': lineOf(`{"content":"${'y'.repeat(8 * MIB - 100)}"}`),
  'one line of unknown fields': lineOf(`{${filled((n) => `"f${n}":1`, 8 * MIB - 200)}}`),
  'one line of blanks around its body': `{"op":"upsert",${' '.repeat(8 * MIB - 200)}"body":{}}`,
  'one blank line': `${' '.repeat(8 * MIB - 200)}\n${lineOf('{}')}`,
  'an array of numbers': `[[${'1,'.repeat(4 * MIB - 50)}1]]`,
  'an array of empty lists': `[[${'[],'.repeat((8 * MIB) / 3 - 50)}[]]]`,
  'an array without an end': '['.repeat(8 * MIB - 200),
  'an array of objects': `[${`{"op":"upsert","body":{${filled(() => '"a":1', LINE_BYTES - 50)}}},`.repeat(900)}1]`,
  'lines that are no JSON': repeated(`${'x'.repeat(LINE_BYTES)}\n`, 8 * MIB - 10_000),
  'lines of parties without fields': lineOf(
    `{"parties":[${filled(() => '{}', LINE_BYTES)}]}`,
  ).repeat(1_000),
  'lines of unknown users': Array.from({ length: 1_000 }, (_, line) =>
    lineOf(
      `{"matterType":"NOTICE","title":"x","parties":[${filled(
        (n) => `{"username":"u${line}-${n}","partyRole":"CC"}`,
        LINE_BYTES - 50,
      )}]}`,
    ),
  ).join(''),
};

const CHUNK = 64 * 1024;
const LISTS: Readonly<Record<string, string>> = {
  'no JSON': repeated('x\n', CHUNK),
  'other types': repeated('1\n', CHUNK),
  'Chinese ids': repeated('"事"\n', CHUNK),
  'ids with blanks': repeated('"a b"\n', CHUNK),
  objects: repeated('{"externalId":"事 项"}\n', CHUNK),
  'empty lines': repeated('\n', CHUNK),
  'deep lines': repeated(`${'['.repeat(16_000)}\n`, CHUNK),
};

const rows = (row: object) => Buffer.from(JSON.stringify({ lines: Array(1_000).fill(row) }));
const DIFFS: Readonly<Record<string, Buffer>> = {
  'wrong types': rows({
    ...{ externalId: 1, bizStatus: 1, externalStatusCode: 1 },
    ...{ sourceUpdatedAt: 'x', deleted: 1 },
  }),
  'local times': Buffer.from(
    JSON.stringify({
      lines: Array.from({ length: 1_000 }, (_, n) => ({
        externalId: `A-${n}`,
        sourceUpdatedAt: `2025-01-01 00:${String(n % 60).padStart(2, '0')}:00`,
      })),
    }),
  ),
  'far too many rows': Buffer.from(`{"lines":[${filled(() => '{}')}]}`),
};

const SCHEDULED = `/proc/self/task/${process.pid}/schedstat`;
const hasOwnTime = existsSync(SCHEDULED);

/**
 * Milliseconds of processor time of the thread that runs the event loop. The process has more threads: they compile and
 * collect garbage beside it, and block nothing. Only Linux tells the time of one thread.
 */
function ownTime(): number {
  if (hasOwnTime) return Number(readFileSync(SCHEDULED, 'utf8').split(' ')[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Milliseconds of processor time of the longest turn; what a rejection throws does not matter here. */
async function longestTurn(work: () => unknown): Promise<number> {
  let longest = 0;
  let isOver = false;
  let before = ownTime();
  const look = () => {
    const now = ownTime();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(look);
  };
  await nextTurn();
  look();
  longest = 0;
  await Promise.resolve()
    .then(work)
    .catch(() => undefined);
  await nextTurn();
  isOver = true;
  await nextTurn();
  return longest;
}

async function median(work: () => unknown, runs = 5): Promise<number> {
  const found: number[] = [];
  for (let n = 0; n < runs; n += 1) found.push(await longestTurn(work));
  return found.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0;
}

/**
 * Milliseconds that are fine on any machine. Long work goes in slices of 10 ms, and 20 ms are allowed on a quiet machine,
 * however fast it is; beside other tests the same work takes up to half as long again.
 */
const MOST_TIME = 40;
/** On a slow machine: a plain body of 1 MiB takes some milliseconds, and what was found took 20 to 400 times as long. */
const MOST_TIMES = 8;
/** What else the machine does may fall into one measurement; it does not fall into all of them. */
const TRIES = 5;
beforeAll(async () => {
  // The first runs compile.
  await median(() => push(PLAIN));
});

const cases = (
  kind: string,
  bodies: Readonly<Record<string, string | Buffer>>,
  read: (raw: Buffer) => unknown,
) =>
  Object.entries(bodies).map(([name, body]): [string, Buffer, typeof read] => [
    `${kind}: ${name}`,
    Buffer.from(body),
    read,
  ]);

test.each([
  ...cases('a push', PUSHES, push),
  ...cases('a dry run', PUSHES, (raw) => {
    readVerifyBody(
      Buffer.concat([Buffer.from('{"operation":"upsert","push":'), raw, Buffer.from('}')]),
    );
  }),
  ...cases('a query', PUSHES, (raw) => queries.get(parseJsonBody(raw))),
  ...cases('a comparison', DIFFS, async (raw) => runInSlices(queries.diff(parseJsonBody(raw)))),
  ...cases('a batch', BATCHES, batch),
  ...cases('a list', LISTS, list),
])('%s', async (_name, raw, read) => {
  let excess = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && excess >= 1; tries += 1) {
    const most = Math.max(MOST_TIME, MOST_TIMES * (await median(() => push(PLAIN))));
    excess = (await median(() => read(raw))) / most;
  }
  expect(excess).toBeLessThan(1);
});
