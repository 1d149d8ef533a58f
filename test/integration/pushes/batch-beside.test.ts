/**
 * A batch beside single pushes of another client goes in parts: each line has its outcome, and the lines of a matter
 * take effect in their order, all the same.
 */
import { entryModel } from '../../../src/storage/push-log/entry';
import { storedMatter } from '../../support/ledger-check';
import { introduce, type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const OTHER = 'quiet';
const LINES = 600;
const MATTERS = 20;

let service: Service;
let secret: string;
beforeAll(async () => {
  service = await startService({ workers: 2 });
  ({ secret } = await introduce(service.db, OTHER));
});
afterAll(() => service?.stop());

interface Result {
  readonly line: number;
  readonly requestId: string;
  readonly outcome: string;
}

const body = (externalId: string, title: string) => ({ matterType: 'NOTICE', externalId, title });
const batchOf = (name: string) =>
  Array.from({ length: LINES }, (_, n) =>
    JSON.stringify({ op: 'upsert', body: body(`${name}-${n % MATTERS}`, `${n + 1}`) }),
  ).join('\n');

/** One push after the other until `until` is over. @returns how many */
async function pushSingly(name: string, until: Promise<unknown>): Promise<number> {
  let isOver = false;
  void until.finally(() => {
    isOver = true;
  });
  let count = 0;
  for (; !isOver; count += 1) {
    await pushOne(`${name}-${count}`);
  }
  return count;
}

async function pushOne(externalId: string): Promise<void> {
  const options = { clientId: OTHER, secret };
  // A slow service sheds pushes.
  const answer = await until('an answer that is not retryable', async () => {
    const found = await service.push('upsert', body(externalId, 't'), options);
    return !found.retryable && found;
  });
  expect(answer).toMatchObject({ code: 0 });
}

test('the lines of three batches beside pushes of another client', async () => {
  // It pushes by the time the batches come.
  let end: (value?: unknown) => void = () => undefined;
  const over = new Promise((resolve) => {
    end = resolve;
  });
  const names = ['P', 'Q', 'R'];
  await pushOne('FIRST');
  const singly = pushSingly('S', over);
  const answers = await Promise.all(
    names.map((name) => service.push('batch', batchOf(name))),
  ).finally(end);
  expect(await singly).toBeGreaterThan(0);
  for (const [index, answer] of answers.entries()) {
    expect(answer).toMatchObject({
      status: 200,
      code: 0,
      data: { total: LINES, succeeded: LINES },
    });
    const { results } = answer.data as unknown as { results: Result[] };
    expect(results.map(({ line }) => line)).toEqual(Array.from({ length: LINES }, (_, n) => n + 1));
    expect(results.map(({ outcome }) => outcome)).toEqual(
      results.map(({ line }) => (line <= MATTERS ? 'CREATED' : 'UPDATED')),
    );
    const log = entryModel(service.db);
    const entries = await log.find({ batchId: answer.requestId }).sort({ _id: 1 }).lean();
    expect(entries.map(({ _id }) => String(_id))).toEqual(
      results.map(({ requestId }) => requestId),
    );
    expect(new Set(entries.map(({ state }) => state))).toEqual(new Set(['PERSISTED']));
    // One that goes whole is queued at one time.
    expect(new Set(entries.map(({ queuedAt }) => Number(queuedAt))).size).toBeGreaterThan(4);
    for (let n = 0; n < MATTERS; n += 1) {
      const stored = await storedMatter(service.db, `${names[index]}-${n}`);
      expect(stored).toMatchObject({ title: String(LINES - MATTERS + n + 1) });
    }
  }
});
