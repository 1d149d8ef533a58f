/** Plans of the console: which failed pushes they look at, whether they still hold, and what is sent of them until a key ends. */
import { makePlan, outdatedOf } from '../../public/console/failure-plan';
import type { PlannedMatter } from '../../public/console/failure-planned';
import { sendMatters } from '../../public/console/failure-send';
import { self } from '../../public/console/self';
import { begin, end, endedBy, endedWork, session } from '../../public/console/session';
import type { Entry, FailedRow } from '../../public/console/shapes';

type Body = Readonly<Record<string, unknown>>;
type Answer = (path: string, body: string, key: string) => object;

/** What of a browser the modules use. */
let answer: Answer;
let asked: { path: string; body: string; client: string }[];
Object.assign(globalThis, {
  location: { hash: '', pathname: '/console', search: '', href: 'http://h/console' },
  sessionStorage: { getItem: () => null, setItem: () => {}, removeItem: () => {} },
  fetch: async (url: URL, { headers, body: bytes }: RequestInit) => {
    const path = url.pathname.replace('/api/open/', '');
    const body = Buffer.from(bytes as Buffer).toString();
    const client = new Headers(headers).get('X-Client-Id') ?? '';
    asked.push({ path, body, client });
    return Response.json(answer(path, body, client));
  },
});

/** The log, the oldest first; what was not written still fails. */
let log: Entry[];
const entry = (requestId: string, externalId: string, more: Partial<Entry> = {}) =>
  ({
    ...{ requestId, externalId, operation: 'upsert', idempotencyKey: null, clientId: 'a' },
    ...{
      bodyHash: requestId,
      body: '{"title":"x"}',
      secretId: 's',
      resentFrom: null,
      problems: [],
    },
    ...{ receivedAt: '2026-01-02', state: 'EXPIRED' },
    ...more,
  }) as unknown as Entry;
const rowOf = ({ requestId, clientId, operation, externalId, idempotencyKey }: Entry) =>
  ({ requestId, clientId, operation, externalId, idempotencyKey }) as FailedRow;

/** As the service searches its log, by what a plan asks for. */
function search(question: Body) {
  const { externalId, requestId, state, stillFailed, oldestFirst, limit, cursor = 0 } = question;
  const { from, to } = question;
  const all = oldestFirst ? log : [...log].reverse();
  const found = all.filter(
    (it) =>
      (state === undefined || it.state === state) &&
      (!stillFailed || it.state !== 'PERSISTED') &&
      (externalId === undefined || it.externalId === externalId) &&
      (requestId === undefined || it.requestId === requestId) &&
      (from === undefined || it.receivedAt >= String(from)) &&
      (to === undefined || it.receivedAt < String(to)),
  );
  const next = Number(cursor) + Number(limit);
  const entries = found.slice(Number(cursor), next);
  return { code: 0, data: { entries, nextCursor: next < found.length ? next : null } };
}
const ok = (body: string) => ({
  code: 0,
  data: { results: body.split('\n').map(() => ({ code: 0, outcome: 'UPDATED' })) },
});
const linesOf = (path: string) =>
  asked
    .filter((it) => it.path === path)
    .map(({ body }) => body.split('\n').map((line) => JSON.parse(line).key));

const signal = new AbortController().signal;
const plan = (rows: FailedRow[], isChecked = false) =>
  makePlan(rows, { settings: [], found: new Map(), isChecked, signal, report: () => {} });

beforeEach(() => {
  asked = [];
  log = [];
  answer = (path, body) => (path === 'push-logs/query' ? search(JSON.parse(body)) : ok(body));
  end();
  begin({ clientId: 'a', key: 'key-a' });
  self.value = { limits: { batchLines: 1_000, batchBytes: 8_000_000 } } as never;
});

describe('a plan', () => {
  const shown = { from: '2026-01-02', to: '2026-01-03' };
  const around = () => [
    entry('1', 'X', { receivedAt: '2026-01-01' }),
    entry('2', 'X'),
    entry('3', 'X', { receivedAt: '2026-01-04' }),
  ];

  test.each([
    ['one matter', 0],
    ['so many that all that failed is read', 30],
  ])('has what failed before and after the range: %s', async (_, others) => {
    const many = Array.from({ length: others }, (_, n) => entry(`o${n}`, `O-${n}`));
    log = [...around(), ...many];
    const rows = log.filter((it) => it.receivedAt >= shown.from && it.receivedAt < shown.to);
    const [first] = await plan(rows.map(rowOf));
    expect(first?.pushes.map(({ key }) => key)).toEqual(['console/1', 'console/2', 'console/3']);
    expect(first?.looked).toEqual(['1', '2', '3']);
  });

  test('of a few among very many asks for them one by one, and not for all of those', async () => {
    const own = Array.from({ length: 21 }, (_, n) => entry(`own${n}`, `O-${n}`));
    log = [...Array.from({ length: 2_000 }, (_, n) => entry(`${n}`, `N-${n}`)), ...own];
    const planned = await plan(own.map(rowOf));
    expect(planned.map(({ looked }) => looked)).toEqual(own.map(({ requestId }) => [requestId]));
    expect(asked.length).toBeLessThanOrEqual(2 * 21 + 1);
  });

  test('of a matter with very many failed pushes says so, and reads no more of them', async () => {
    log = Array.from({ length: 3_000 }, (_, n) => entry(`${n}`, 'X'));
    expect(await plan([rowOf(log[0] as Entry)])).toMatchObject([{ state: 'many', pushes: [] }]);
    expect(asked).toHaveLength(21);
  });

  test('tells of the matters of a batch that is refused whole, and checks the others', async () => {
    log = ['A', 'B'].map((id) => entry(id, id));
    self.value = { limits: { batchLines: 1, batchBytes: 8_000_000 } } as never;
    const rows = log.map(rowOf);
    const { answer: usual } = { answer };
    answer = (path, body, key) =>
      path === 'verify/batch' && body.includes('console/A')
        ? { code: 413, message: 'too long', reason: 'BODY_TOO_LARGE', data: null }
        : usual(path, body, key);
    const planned = await plan(rows, true);
    expect(planned.map(({ state, why }) => [state, why])).toEqual([
      ['rejected', 'too long (BODY_TOO_LARGE)'],
      ['send', undefined],
    ]);
  });
});

describe('before it is sent, a plan is compared with what still fails', () => {
  let planned: PlannedMatter[];
  let rows: FailedRow[];
  beforeEach(async () => {
    log = [entry('1', 'X'), entry('2', 'X'), entry('3', 'Y')];
    rows = [log[1], log[2]].map((it) => rowOf(it as Entry));
    planned = await plan(rows);
  });
  const outdated = async (matters = planned) =>
    [...(await outdatedOf(matters, rows, signal)).values()].map(({ name, state }) => [name, state]);

  test('as it was, it holds', async () => {
    expect(await outdated()).toEqual([]);
  });

  test('what was mended is not sent', async () => {
    log = log.slice(2);
    expect(await outdated()).toEqual([['["X"]', 'mended']]);
  });

  test.each([
    ['failed anew', () => [...log, entry('4', 'X')]],
    ['was mended in part', () => log.slice(1)],
  ])('what %s needs a new plan', async (_, now) => {
    log = now();
    expect(await outdated()).toEqual([['["X"]', 'changed']]);
  });

  describe('what it tried, and the service had no room for', () => {
    const tried = () => planned.map((it) => ({ ...it, sent: true }));

    test('may fail once more by that, and holds', async () => {
      log = [...log, entry('4', 'X', { idempotencyKey: 'console/1' })];
      expect(await outdated(tried())).toEqual([]);
    });

    test('may have been mended, or have failed anew', async () => {
      log = [...log.slice(0, 2), entry('4', 'X')];
      expect(await outdated(tried())).toEqual([
        ['["X"]', 'changed'],
        ['["Y"]', 'mended'],
      ]);
    });
  });

  describe('what it wrote a part of', () => {
    const written = (requestId: string, more: Partial<Entry>) =>
      entry(requestId, 'X', { state: 'PERSISTED', ...more });
    const part = () => {
      const [x] = planned as [PlannedMatter];
      return [{ ...x, pushes: x.pushes.slice(1), sent: true, written: 'upsert console/1' }];
    };

    test.each<[string, Entry[]]>([
      ['as it wrote it', [written('5', { idempotencyKey: 'console/1' })]],
      [
        'where more of it arrived than it knows of',
        [written('6', { idempotencyKey: 'console/2' })],
      ],
      [
        'where the rest was tried',
        [
          entry('5', 'X', { idempotencyKey: 'console/2' }),
          written('6', { idempotencyKey: 'console/1' }),
        ],
      ],
    ])('goes on %s', async (_, now) => {
      log = now;
      expect(await outdated(part())).toEqual([]);
    });

    test.each<[string, string, Entry]>([
      ['was written', 'mended', written('6', {})],
      ['failed', 'changed', entry('6', 'X')],
    ])('does not go over what somebody pushed since and %s', async (_, state, since) => {
      log = [written('5', { idempotencyKey: 'console/1' }), since];
      expect(await outdated(part())).toEqual([['["X"]', state]]);
    });
  });
});

describe('sending', () => {
  const matter = (name: string, count: number): PlannedMatter => ({
    ...{ name, state: 'send', looked: [] },
    pushes: Array.from({ length: count }, (_, n) => ({
      ...{ operation: 'upsert', body: '{}', key: `${name}${n}` },
    })),
  });
  const all = async (matters: readonly PlannedMatter[]) => matters;
  const send = async (matters: PlannedMatter[], upToDate = all) => {
    const told: [string, number][] = [];
    const { left, error } = await sendMatters(matters, {
      signal,
      upToDate,
      onResults: (results) =>
        told.push(...results.map(([name, { code }]) => [name, code] as never)),
      onWait: () => {},
    });
    return { told, left, error };
  };

  test('a long matter goes in several batches, and is told of once', async () => {
    const { told, left } = await send([matter('A', 150), matter('B', 1)]);
    expect([told, left]).toEqual([
      [
        ['A', 0],
        ['B', 0],
      ],
      [],
    ]);
    const sent = linesOf('matters/batch');
    expect(sent.map((keys) => keys.length)).toEqual([100, 51]);
    expect(sent.flat()).toEqual([...matter('A', 150).pushes.map(({ key }) => key), 'B0']);
  });

  test('what somebody mended while much was sent is not sent over it', async () => {
    let now = 0;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
    answer = (_, body) => {
      now += 31_000;
      return { code: 0, data: { results: body.split('\n').map(() => ({ code: 0 })) } };
    };
    const matters = [matter('A', 100), matter('B', 1), matter('C', 1)];
    const asked: string[][] = [];
    const withoutB = async (left: readonly PlannedMatter[]) => {
      asked.push(left.map(({ name }) => name));
      return left.filter(({ name }) => name !== 'B');
    };
    const { told } = await send(matters, withoutB).finally(() => clock.mockRestore());
    expect(asked).toEqual([['B', 'C']]);
    expect(told).toEqual([
      ['A', 0],
      ['C', 0],
    ]);
    expect(linesOf('matters/batch').map((keys) => keys.length)).toEqual([100, 1]);
  });

  test('of a long matter nothing is sent behind what failed', async () => {
    answer = (_, body) => ({
      code: 0,
      data: { results: body.split('\n').map((line) => ({ code: line.includes('A99') ? 400 : 0 })) },
    });
    const { told } = await send([matter('A', 150), matter('B', 1)]);
    expect(told).toEqual([
      ['A', 400],
      ['B', 0],
    ]);
    expect(linesOf('matters/batch').map((keys) => keys.length)).toEqual([100, 1]);
  });

  test('a batch that is refused whole for what stands in it is told of, and others go on', async () => {
    answer = (_, body) =>
      body.includes('A0')
        ? { code: 413, message: 'too long', reason: 'BODY_TOO_LARGE', data: null }
        : ok(body);
    const { told, left } = await send([matter('A', 99), matter('B', 60)]);
    expect([told, left]).toEqual([
      [
        ['A', 413],
        ['B', 0],
      ],
      [],
    ]);
  });

  test('what it cannot read stops it, and is told', async () => {
    answer = () => ({ code: 0, data: { results: [null] } });
    const { left, error } = await send([matter('A', 1)]);
    expect([left.map(({ name }) => name), error]).toEqual([['A'], expect.any(TypeError)]);
  });

  test('where the key ends meanwhile it stops in words, and nothing is signed with another key', async () => {
    const mismatch = { code: 401, message: 'no', reason: 'SIGNATURE_MISMATCH', data: null };
    // Written are one matter, and the first hundred pushes of another one.
    answer = (path, body) =>
      path === 'clients/me' || linesOf('matters/batch').length > 2 ? mismatch : ok(body);
    const { told, left } = await send([matter('A', 60), matter('B', 150), matter('C', 60)]);
    expect(told).toEqual([['A', 0]]);
    expect(left.map(({ name, pushes, written }) => [name, pushes.length, written])).toEqual([
      ['B', 50, 'upsert B99'],
      ['C', 60, undefined],
    ]);
    expect([session.value, endedBy.value]).toEqual([undefined, 'SIGNATURE_MISMATCH']);
    expect(endedWork.value?.counts).toEqual([1, 0, 2, 1]);
    const { length } = asked;
    begin({ clientId: 'b', key: 'key-b' });
    expect(endedWork.value).toBeUndefined();
    await new Promise((later) => setImmediate(later));
    expect(asked).toHaveLength(length);
    expect(new Set(asked.map(({ client }) => client))).toEqual(new Set(['a']));
  });
});
