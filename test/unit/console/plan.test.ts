/** Plans of the console: which failed pushes they look at, whether they still hold, and what is sent of them until a key ends. */
import { AskError } from '../../../public/console/ask';
import { bodyHashOf, leftOf } from '../../../public/console/failure-lines';
import { lookedAgain } from '../../../public/console/failure-look';
import { makePlan } from '../../../public/console/failure-plan';
import type { PlannedMatter } from '../../../public/console/failure-planned';
import { sendMatters } from '../../../public/console/failure-send';
import { keyOf } from '../../../public/console/mend-guard';
import { self } from '../../../public/console/self';
import { begin, end, endedBy, endedWork, session } from '../../../public/console/session';
import type { Entry, Envelope, FailedRow } from '../../../public/console/shapes';

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
const START = Date.parse('2026-01-02') / 1_000;
/** In the order of their receipt, as those of the service. */
const idOf = (name: string) => `${START.toString(16)}0000${name.padStart(12, '0')}`;
/** Keys by which the console sends what has none, with the short names. */
const short = (key: string) => key.replace(idOf('').slice(0, 12), '').replace(/\/0+/, '/');
const entry = (name: string, externalId: string | null, more: Partial<Entry> = {}) =>
  ({
    ...{ requestId: idOf(name), externalId, operation: 'upsert', idempotencyKey: null },
    ...{ clientId: 'a', reason: null, outcome: null },
    ...{
      bodyHash: name,
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

/** What is persisted mends all that failed of its matter before; so does, of what names none, the same push. */
function failedOf(): Entry[] {
  const mended = new Set<string>();
  const [byId, byKey] = [(id: string) => `id ${id}`, (it: Entry) => `key ${keyOf(it)}`];
  const failed = log.toReversed().filter((it) => {
    const { externalId } = it;
    if (it.state === 'PERSISTED') mended.add(byId(String(externalId))).add(byKey(it));
    const name = externalId === null ? byKey(it) : byId(externalId);
    return ['REFUSED', 'EXPIRED'].includes(it.state) && !mended.has(name);
  });
  return failed.reverse();
}

/** As the service searches its log, by what a plan asks for. */
function search(question: Body) {
  const { externalId, requestId, idempotencyKey, reason } = question;
  const { stillFailed, oldestFirst, limit, cursor = 0 } = question;
  const { from, to } = question;
  const some = stillFailed ? failedOf() : log;
  const all = oldestFirst ? some : some.toReversed();
  const found = all.filter(
    (it) =>
      (idempotencyKey === undefined || it.idempotencyKey === idempotencyKey) &&
      (!Array.isArray(reason) || it.reason === null || reason.includes(it.reason)) &&
      (externalId === undefined || it.externalId === externalId) &&
      (requestId === undefined || it.requestId === requestId) &&
      (from === undefined || at(it.receivedAt) >= at(from)) &&
      (to === undefined || at(it.receivedAt) < at(to)),
  );
  const next = Number(cursor) + Number(limit);
  const entries = found.slice(Number(cursor), next);
  return { code: 0, data: { entries, nextCursor: next < found.length ? next : null } };
}
const at = (instant: unknown) => Date.parse(String(instant));
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
  self.value = {
    signedWith: { secretId: 'q' },
    limits: { batchLines: 1_000, batchBytes: 8_000_000 },
  } as never;
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
    const keys = first?.pushes.map(({ key }) => short(key));
    expect(keys).toEqual(['console/1', 'console/2', 'console/3']);
    expect(first?.looked).toEqual(['1', '2', '3'].map(idOf));
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
    self.value = {
      signedWith: { secretId: 'q' },
      limits: { batchLines: 1, batchBytes: 8_000_000 },
    } as never;
    const rows = log.map(rowOf);
    const { answer: usual } = { answer };
    answer = (path, body, key) =>
      path === 'verify/batch' && body.includes('000A')
        ? { code: 413, message: 'too long', reason: 'BODY_TOO_LARGE', data: null }
        : usual(path, body, key);
    const planned = await plan(rows, true);
    expect(planned.map(({ state, why }) => [state, why])).toEqual([
      ['rejected', 'too long (BODY_TOO_LARGE)'],
      ['send', undefined],
    ]);
  });
});

describe('before it is sent, a plan is compared with the log', () => {
  let planned: PlannedMatter[];
  let rows: FailedRow[];
  const planOf = async (...entries: Entry[]) => {
    log = entries;
    rows = [rowOf(entries[0] as Entry)];
    planned = await plan(rows);
  };
  beforeEach(() => planOf(...['1', '2', '3'].map((id) => entry(id, 'X'))));
  /** What may still be sent, what became of it, or why nothing may be sent. */
  const look = async (more: Partial<PlannedMatter> = {}) => {
    const [x] = await lookedAgain(
      planned.map((it) => ({ ...it, ...more })),
      rows,
      signal,
    );
    if (x?.state !== 'send') return x?.state;
    return x.result ?? leftOf(x).map(({ key }) => short(key));
  };
  const ALL = ['console/1', 'console/2', 'console/3'];
  const BODY = '{"title":"x"}';
  /** What this page sent of the plan. */
  const own = (name: string, of: string, state: Entry['state'] = 'REFUSED') =>
    entry(name, 'X', {
      ...{ idempotencyKey: `console/${idOf(of)}`, state },
      ...(state === 'REFUSED' ? { reason: 'VALIDATION_FAILED' } : { outcome: 'UPDATED' }),
      bodyHash: bodyHashOf({ operation: 'upsert', key: '', body: BODY }),
    });
  const others = (name: string, more: Partial<Entry> = {}) => entry(name, 'X', more);
  const WRITTEN = { state: 'PERSISTED' } as const;
  const QUEUED = { state: 'QUEUED' } as const;
  const OVER = expect.objectContaining({ code: 0, outcome: 'UPDATED' });

  test.each<[string, Entry[], unknown]>([
    ['as it was, holds', [], ALL],
    ['that was mended is not', [others('4', WRITTEN)], 'mended'],
    ['that failed anew needs a new plan', [others('4')], 'changed'],
  ])('what %s', async (_, since, expected) => {
    log = [...log, ...since];
    expect(await look()).toEqual(expected);
  });

  test('what was mended in part needs a new plan', async () => {
    log = log.slice(1);
    expect(await look()).toBe('changed');
  });

  test.each<[string, Entry[], unknown]>([
    ['may fail by that, and holds', [own('4', '1'), own('5', '2')], ALL],
    ['does not go over what somebody wrote', [others('4', WRITTEN)], 'mended'],
    ['nor where it was tried once more since', [others('4', WRITTEN), own('5', '1')], 'changed'],
    ['does not go over what failed since', [own('4', '1'), others('5')], 'changed'],
    ['does not go over what is about to be written', [others('4', QUEUED)], 'changed'],
    [
      'is not held up by a signature that was refused',
      [others('4', { state: 'REFUSED', reason: 'SIGNATURE_REUSED' })],
      ALL,
    ],
    [
      'goes on behind what it wrote, where the answer was lost',
      [own('4', '1', 'PERSISTED')],
      ALL.slice(1),
    ],
    [
      'is over where that is all of it',
      ['1', '2', '3'].map((n) => own(`4${n}`, n, 'PERSISTED')),
      OVER,
    ],
    [
      'also where it was tried once more, and that expired',
      [...['1', '2', '3'].map((n) => own(`4${n}`, n, 'PERSISTED')), own('5', '3', 'EXPIRED')],
      OVER,
    ],
    [
      'is over with what it was rejected with',
      [own('4', '1', 'PERSISTED'), own('5', '2'), own('6', '3', 'PERSISTED')],
      expect.objectContaining({ code: 400, reason: 'VALIDATION_FAILED' }),
    ],
  ])('what it sent, and does not know the end of, %s', async (_, since, expected) => {
    log = [...log, ...since];
    expect(await look({ sent: true })).toEqual(expected);
  });

  test('what never arrived is not told as sent in part where it failed anew', async () => {
    log = [...log, others('4')];
    expect(await look({ sent: true, begun: true })).toBe('changed');
  });

  test('what somebody wrote between two failures is not gone over', async () => {
    log.splice(2, 0, others('25', WRITTEN));
    expect(await look({ sent: true })).toBe('changed');
  });

  test.each<[string, Entry[], unknown]>([
    ['goes on', [], ALL.slice(1)],
    ['goes on where the rest was tried', [own('5', '2')], ALL.slice(1)],
    ['goes on behind what it wrote, and told nobody', [own('5', '2', 'PERSISTED')], ALL.slice(2)],
    ['never goes back before what its source wrote', [own('5', '3', 'PERSISTED')], OVER],
    ['does not go over what somebody wrote', [others('5', WRITTEN)], 'mended'],
    [
      'nor where it wrote more after that',
      [others('5', WRITTEN), own('6', '2', 'PERSISTED')],
      'mended',
    ],
    ['does not go over what is about to be written', [others('5', QUEUED)], 'parted'],
    [
      'does not go over another body under its key',
      [others('5', { ...WRITTEN, idempotencyKey: `console/${idOf('2')}` })],
      'mended',
    ],
    [
      'does not go over another client’s push under its key',
      [{ ...own('5', '2', 'PERSISTED'), clientId: 'b' }],
      'mended',
    ],
    ['does not go over what failed since', [others('5')], 'parted'],
    ['goes on behind what mended that', [others('5'), own('6', '2', 'PERSISTED')], ALL.slice(2)],
    [
      'goes on where its source tries what it mended once more',
      [others('5', { idempotencyKey: `console/${idOf('1')}`, bodyHash: '1' })],
      ALL.slice(1),
    ],
  ])('what it wrote a part of %s', async (_, since, expected) => {
    log = [...log, own('4', '1', 'PERSISTED'), ...since];
    expect(await look({ sent: true, next: 1 })).toEqual(expected);
  });

  test('what it was rejected with does not hold up what is behind it', async () => {
    log = [...log, own('4', '1', 'PERSISTED'), own('5', '2')];
    expect(await look({ sent: true, next: 2 })).toEqual(['console/3']);
  });

  test.each<[string, Partial<Entry>]>([
    ['without a key', {}],
    ['with a key', { idempotencyKey: 'k' }],
  ])('what names no matter, %s, is known by its key', async (_, more) => {
    await planOf(entry('1', null, more));
    expect(await look({ sent: true })).toHaveLength(1);
    const key = { idempotencyKey: `console/${idOf('1')}`, ...more };
    log = [...log, { ...own('4', '1', 'PERSISTED'), externalId: 'auto:x', ...key }];
    expect(await look({ sent: true })).toEqual(OVER);
  });

  test('what was given an id is known by its key, too: the console gets another id for it', async () => {
    await planOf(entry('1', 'auto:x'));
    log = [...log, { ...own('4', '1', 'PERSISTED'), externalId: 'auto:y' }];
    log.splice(0, 1);
    expect(await look({ sent: true })).toEqual(OVER);
  });

  test('what names no matter is not sent where an operator resent it', async () => {
    await planOf(entry('1', null));
    log = [];
    expect(await look({ sent: true })).toBe('mended');
  });
});

describe('sending', () => {
  const matter = (name: string, count: number): PlannedMatter => ({
    ...{ name, externalId: name, state: 'send', looked: [] },
    pushes: Array.from({ length: count }, (_, n) => ({
      ...{ operation: 'upsert', body: '{}', key: `${name}${n}` },
    })),
  });
  const all = async (matters: readonly PlannedMatter[]) => matters;
  const RATED = { code: 429, message: 'no', reason: 'RATE_LIMITED' };
  const busy = (code: number) =>
    new AskError({ message: 'no', envelope: { code, retryAfter: 1 } as Envelope });
  const send = async (matters: PlannedMatter[], upToDate = all, isFresh = true) => {
    const told: [string, number][] = [];
    const { left, error } = await sendMatters(matters, {
      ...{ signal, upToDate, isFresh },
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

  test('of a long matter what is rejected holds up nothing, as within a batch, and is what is told', async () => {
    answer = (_, body) => ({
      code: 0,
      data: { results: body.split('\n').map((line) => ({ code: line.includes('A50') ? 400 : 0 })) },
    });
    const { told, left } = await send([matter('A', 150), matter('B', 1)]);
    expect([told, left]).toEqual([
      [
        ['A', 400],
        ['B', 0],
      ],
      [],
    ]);
    expect(linesOf('matters/batch').map((keys) => keys.length)).toEqual([100, 51]);
  });

  test('what there was no time for is sent once more, from there on', async () => {
    const codes = [
      [0, 504, 503],
      [0, 0],
    ];
    answer = () => ({
      code: 207,
      data: { results: codes.shift()?.map((code) => ({ code, reason: 'CONFIRMATION_TIMEOUT' })) },
    });
    expect((await send([matter('A', 3)])).told).toEqual([['A', 0]]);
    expect(linesOf('matters/batch')).toEqual([
      ['A0', 'A1', 'A2'],
      ['A1', 'A2'],
    ]);
  });

  test('what a look finds to be over is told, and not sent', async () => {
    const found = async ([a, ...others]: readonly PlannedMatter[]) => [
      { ...(a as PlannedMatter), result: { code: 0, message: '' } },
      ...others,
    ];
    const { told, left } = await send([matter('A', 2), matter('B', 1)], found, false);
    expect([told, left]).toEqual([
      [
        ['A', 0],
        ['B', 0],
      ],
      [],
    ]);
    expect(linesOf('matters/batch')).toEqual([['B0']]);
  });

  test.each<[string, AskError, number]>([
    ['nobody answers', new AskError({ message: 'no' }), 1],
    ['the service is busy', busy(503), 1],
    ['the way to it is', busy(504), 1],
    ['it says no', busy(400), 0],
  ])('where %s when it looks, it waits or stops', async (_, error, sent) => {
    const errors = [error];
    const unsure = async (matters: readonly PlannedMatter[]) => {
      const next = errors.shift();
      if (next) throw next;
      return matters;
    };
    const { told, left } = await send([matter('A', 1)], unsure, false);
    expect([told.length, left.length]).toEqual([sent, 1 - sent]);
  });

  test('what is not known to have arrived counts as sent', async () => {
    answer = () => ({ code: 500, message: 'no', reason: 'INTERNAL_ERROR', data: null });
    const { left, error } = await send([matter('A', 2)]);
    expect(left).toMatchObject([{ name: 'A', sent: true, begun: true }]);
    expect(error).toMatchObject({ reason: 'INTERNAL_ERROR' });
  });

  test.each([403, 503])('what is refused whole with %d is not begun', async (code) => {
    answer = () => ({ code, message: 'no', reason: 'CLIENT_PAUSED', data: null });
    const { left } = await send([matter('A', 2)]);
    expect(left.map(({ sent, begun }) => [sent, begun])).toEqual([[true, undefined]]);
  });

  test('who stops it while it waits has begun nothing more', async () => {
    const stop = new AbortController();
    answer = () => ({ code: 429, message: 'no', reason: 'RATE_LIMITED', data: null });
    const onWait = () => stop.abort();
    const how = { signal: stop.signal, upToDate: all, onResults: () => {}, onWait };
    const { left, error } = await sendMatters([matter('A', 2)], how);
    expect([left.map(({ begun }) => begun), error]).toEqual([[undefined], undefined]);
    expect(linesOf('matters/batch')).toHaveLength(1);
  });

  test('a rate that others of the client take, too, is waited for as long as it moves', async () => {
    jest.useFakeTimers();
    try {
      let batches = 0;
      answer = (_, body) => {
        batches += 1;
        return batches > 20 ? ok(body) : { ...RATED, data: null };
      };
      let told: unknown;
      void send([matter('A', 1)]).then((all) => {
        told = all.told;
      });
      while (told === undefined) await jest.advanceTimersByTimeAsync(1_000);
      expect([told, batches]).toEqual([[['A', 0]], 21]);
    } finally {
      jest.useRealTimers();
    }
  });

  test('where the key ends while it looks before it goes on, the entrance tells all that was sent', async () => {
    const upToDate = async () => {
      end('SIGNATURE_MISMATCH');
      throw new DOMException('over', 'AbortError');
    };
    const [onResults, onWait] = [() => {}, () => {}];
    const how = { signal, upToDate, onResults, onWait };
    const { left } = await sendMatters([matter('A', 1)], {
      ...{ ...how, isFresh: false, counts: { written: 3, failed: 2 } },
    });
    expect(left).toHaveLength(1);
    expect(endedWork.value?.counts).toEqual([3, 2, 1, 0]);
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
    expect(left.map((it) => [it.name, leftOf(it).length, it.begun])).toEqual([
      ['B', 50, true],
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
