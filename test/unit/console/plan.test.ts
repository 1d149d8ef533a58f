/** The plan of a resend: the pushes of each matter that the service is asked for, and what its answers mean. */
import type { Entry, FailedRow } from '../../../browser/console/read/shapes';
import { makePlan, namedOf, plannedOf } from '../../../browser/console/send/plan';
import type { Result } from '../../../browser/console/send/resend';
import { allGood, fakeService, many, rejected, resent } from '../../support/console-resend';

const service = fakeService();

/** The open failures of the log, the oldest first. */
let log: Entry[];
const entry = (requestId: string, externalId: string | null, more: Partial<Entry> = {}) =>
  ({
    ...{ requestId, externalId, operation: 'upsert', idempotencyKey: null, clientId: 'a' },
    ...{ secretId: 's', resentFrom: null, reason: 'VALIDATION_FAILED', state: 'REFUSED' },
    ...more,
  }) as unknown as Entry;
const rowOf = ({ requestId, clientId, operation, externalId, idempotencyKey }: Entry) =>
  ({ requestId, clientId, operation, externalId, idempotencyKey }) as FailedRow;

/** `push-logs/query`, in pages of one entry. */
function search({ cursor = 0, ...question }: Record<string, unknown>) {
  const { stillFailed, oldestFirst, limit: _, reason: __, ...filter } = question;
  expect([stillFailed, oldestFirst]).toEqual([true, true]);
  const found = log.filter((it) =>
    Object.entries(filter).every(([name, value]) => it[name as keyof Entry] === value),
  );
  const at = Number(cursor);
  return {
    code: 0,
    data: {
      entries: found.slice(at, at + 1),
      nextCursor: at + 1 < found.length ? at + 1 : null,
    },
  };
}

const signal = new AbortController().signal;

beforeEach(() => {
  log = [];
  service.begin();
  service.other = search;
});

describe('a plan', () => {
  const plan = (rows: FailedRow[], set: { field: string; value?: unknown }[] = []) =>
    makePlan(rows, { set, signal, report: () => {} });
  test('asks for all open failures of each matter, the oldest first, with the values', async () => {
    log = [entry('1', 'A'), entry('2', 'B'), entry('3', 'A', { operation: 'status' })];
    const set = [{ field: 'title', value: 'x' }];
    const rows = [rowOf(entry('3', 'A')), rowOf(entry('2', 'B'))];
    const states = (await plan(rows, set)).map(({ state, pushes }) => [state, pushes]);
    expect(states).toEqual([
      ['send', ['1', '3']],
      ['send', ['2']],
    ]);
    expect(service.requests()).toEqual([{ requestIds: ['1', '3', '2'], dryRun: true, set }]);
  });

  test('of many matters reads the log once, unless that takes more queries', async () => {
    log = many(30).map((id) => entry(id, id));
    const rows = log.slice(0, 25).map(rowOf);
    expect((await plan(rows)).map(({ pushes }) => pushes)).toEqual(
      rows.map((it) => [it.requestId]),
    );
    // 25 pages of the whole log, and then one query for each matter.
    expect(service.asked.filter(({ path }) => path === 'push-logs/query')).toHaveLength(26 + 25);
    service.asked = [];
    await plan(log.map(rowOf));
    expect(service.asked.filter(({ path }) => path === 'push-logs/query')).toHaveLength(30);
  });

  test('halves a request whose stored bodies are too large together', async () => {
    log = many(7).map((id) => entry(id, id));
    service.answer = (request, path) =>
      request.requestIds.length > 3 ? rejected(413, 'BODY_TOO_LARGE') : allGood(request, path);
    expect((await plan(log.map(rowOf))).every(({ state }) => state === 'send')).toBe(true);
    expect(service.idsOf().map((ids) => ids.length)).toEqual([7, 4, 2, 5, 3, 2]);
  });
});

describe('of one matter', () => {
  test.each<[string, Entry[], readonly string[]]>([
    ['resolved', [], []],
    ['unsigned', [entry('1', 'A', { secretId: null })], []],
    ['unsigned', [entry('1', 'A', { reason: 'SCOPE_NOT_ALLOWED' })], []],
    ['foreign', [entry('1', 'A'), entry('2', 'A', { clientId: 'b' })], []],
    ['send', [entry('1', 'A', { secretId: null }), entry('2', 'A')], ['2']],
    // A fixed push that failed again, and a resend that failed.
    [
      'send',
      [entry('2', 'A', { resentFrom: '1' }), entry('3', 'A', { idempotencyKey: 'console/1' })],
      ['3'],
    ],
    ['send', [entry('1', 'A'), entry('2', 'A', { idempotencyKey: 'console/1' })], ['2']],
    ['send', [entry('1', 'A'), entry('2', 'A', { resentFrom: '1' })], ['2']],
    // In the place of the first push, because the service takes 100 pushes at a time.
    [
      'send',
      [
        ...[entry('1', 'A'), entry('2', 'A'), entry('3', 'A', { resentFrom: '1' })],
        entry('4', 'A', { resentFrom: '1' }),
      ],
      ['4', '2'],
    ],
    ['send', [entry('2', 'A', { resentFrom: '1' })], ['2']],
  ])('%s: what the service is asked for', (state, entries, pushes) => {
    expect(namedOf('A', entries, 'a')).toEqual({ name: 'A', state, pushes });
  });

  const notSent = (reason: string, code = 409) =>
    resent('1', { sent: false, code, reason, message: reason });
  test.each<[string, Result, string[]]>([
    ['send', resent('1'), ['1', '2']],
    ['send', resent('1', { sent: false }), ['2']],
    ['send', notSent('RESOLVED_SINCE'), ['2']],
    ['waiting', notSent('STILL_QUEUED'), []],
    ['bodyless', notSent('BODY_NOT_STORED'), []],
    ['bodyless', notSent('PUSH_NOT_FOUND', 404), []],
    ['rejected', resent('1', { code: 400, reason: 'INVALID_JSON' }), []],
    ['rejected', notSent('REASON_OF_A_NEWER_SERVICE'), []],
  ])('%s: no push is sent without an earlier one of its matter', (state, first, pushes) => {
    const results = new Map([
      ['1', first],
      ['2', resent('2')],
    ]);
    const matter = { name: 'A', state: 'send' as const, pushes: ['1', '2'] };
    expect(plannedOf(matter, results)).toMatchObject({ name: 'A', state, pushes });
  });

  test('all resolved, it is not sent', () => {
    const matter = { name: 'A', state: 'send' as const, pushes: ['1'] };
    const results = new Map([['1', notSent('RESOLVED_SINCE')]]);
    expect(plannedOf(matter, results).state).toBe('resolved');
  });

  test('rejected, it names its problems and fields', () => {
    const errors = [
      { field: 'title', message: 'is missing' },
      { field: 'parties[3].username', message: 'unknown' },
    ];
    const matter = { name: 'A', state: 'send' as const, pushes: ['1'] };
    const results = new Map([['1', resent('1', { code: 400, errors })]]);
    expect(plannedOf(matter, results)).toMatchObject({
      why: 'title is missing; parties[3].username unknown',
      fields: ['title', 'parties[].username'],
    });
  });
});
