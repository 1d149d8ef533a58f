/** The console's screens of matters and of the set-up: what they ask for, and what they make of answers. */

import { lookOn } from '../../../browser/console/read/look-on';
import type { Matter, MattersPage } from '../../../browser/console/read/matter-shapes';
import type { Check } from '../../../browser/console/read/setup-shapes';
import type { Envelope } from '../../../browser/console/read/shapes';
import { hasNames, questionOf } from '../../../browser/console/screens/matters/question';
import { ENOUGH, eachOnce, NONE, withPage } from '../../../browser/console/screens/matters/rows';
import {
  type Stated,
  statusText,
  toneOfStatus,
} from '../../../browser/console/screens/matters/status';
import { CHECKS, type Means, runChecks } from '../../../browser/console/screens/setup/checks';
import { badUsers, namesIn } from '../../../browser/console/screens/setup/usernames';
import { NOW } from '../../support/builders';

describe('a search for matters', () => {
  const ZONE = 'Asia/Shanghai';

  test.each([
    [{}, {}],
    [{ range: 'yesterday', lang: 'en', live: 'on', q: 'x' }, {}],
    [
      { externalIdPrefix: ' PR- ', username: 'li.lei', phase: 'OPEN', matterType: 'TODO' },
      { externalIdPrefix: 'PR-', username: 'li.lei', phase: 'OPEN', matterType: 'TODO' },
    ],
    [{ bizType: '  ', bizStatus: 'DONE' }, { bizStatus: 'DONE' }],
    [
      { changed: 'range', range: 'custom', from: '2026-01-01T08:00', to: '2026-01-02T08:00' },
      { updatedFrom: '2026-01-01T08:00', updatedTo: '2026-01-02T08:00' },
    ],
    [{ changed: 'range' }, { updatedFrom: '2024-06-01T00:00' }],
    // The service searches the titles of all matters.
    [{ titleContains: ' laptop 采购 ' }, { titleContains: 'laptop 采购' }],
    // The page compares names: it reads the matters of a time range, of a person, or of an id.
    [{ words: 'lei' }, { updatedFrom: '2024-06-01T00:00' }],
    [
      { words: 'lei', titleContains: 'laptop' },
      { titleContains: 'laptop', updatedFrom: '2024-06-01T00:00' },
    ],
    [{ words: 'lei', username: 'li.lei' }, { username: 'li.lei' }],
    [{ words: ' ' }, {}],
  ])('of %j asks for %j', (params, question) => {
    expect(questionOf(params, ZONE, NOW)).toEqual(question);
  });

  const party = (username: string, displayName: string) => ({ username, displayName });
  const parties = [party('li.lei', '李雷'), party('han.mei', 'Han Meimei')];
  test.each([
    ['', true],
    ['李雷', true],
    ['MEIMEI  li.lei', true],
    ['han.mei', true],
    ['lei zed', false],
  ])('finds names by %j: %j', (words, isFound) => {
    expect(hasNames({ parties }, words)).toBe(isFound);
  });

  test('shows a matter that changes while pages are read once, as it is now', () => {
    const rows = [
      { externalId: 'A', title: 'new' },
      { externalId: 'B', title: 'b' },
      { externalId: 'A', title: 'old' },
    ];
    expect(eachOnce(rows)).toEqual(rows.slice(0, 2));
  });

  /** Searches pages that each have so many matches, among 5,000 matters. @returns the cursors that were sent */
  async function searched(matches: readonly number[], words = '') {
    const cursors: (string | null)[] = [];
    const readPage = async (list: typeof NONE) => {
      cursors.push(list.cursor);
      const at = Number(list.cursor ?? 0);
      const matters = Array.from({ length: matches[at] ?? 0 }, (_, n) => ({
        externalId: `HD-${at}-${n}`,
        parties: n % 2 === 0 ? parties : [],
      })) as unknown as Matter[];
      const nextCursor = at + 1 < matches.length ? String(at + 1) : null;
      const page: MattersPage = { matters, nextCursor, examined: 5_000 };
      return withPage(list, page, { words, wanted: ENOUGH });
    };
    const ignore = () => undefined;
    return { cursors, list: await lookOn(NONE, readPage, ignore) };
  }

  test('follows the pages until there are enough matches', async () => {
    const { cursors, list } = await searched([0, 3, 0, 40, 30, 5, 5]);
    expect(cursors).toEqual([null, '1', '2', '3', '4']);
    expect(list).toMatchObject({ cursor: '5', isPaused: false, examined: 25_000 });
    expect(list.rows).toHaveLength(73);
  });

  test('follows the pages to the last one, and counts only matters with the names', async () => {
    const { list } = await searched([4, 0, 4], 'meimei');
    expect(list).toMatchObject({ cursor: null, isPaused: false, examined: 15_000 });
    expect(list.rows).toHaveLength(4);
  });

  test('stops after a number of pages, and knows how far it came', async () => {
    const { cursors, list } = await searched(
      Array.from({ length: 100 }, (_, n) => (n % 9 === 0 ? 1 : 0)),
    );
    expect(cursors).toHaveLength(25);
    expect(list).toMatchObject({ cursor: '25', isPaused: true, examined: 125_000 });
    expect(list.rows).toHaveLength(3);
  });
});

test.each<[Stated, string, string]>([
  [{ phase: 'OPEN', bizStatus: 'PENDING', externalStatusLabel: null }, '待处理', 'info'],
  [{ phase: 'CONCLUDED', bizStatus: 'APPROVED', externalStatusLabel: null }, '已通过', 'good'],
  // A matter that is over is not good for that alone.
  [{ phase: 'CONCLUDED', bizStatus: 'REJECTED', externalStatusLabel: null }, '已驳回', 'bad'],
  [{ phase: 'CONCLUDED', bizStatus: 'CANCELLED', externalStatusLabel: null }, '已取消', ''],
  [
    { phase: 'OPEN', bizStatus: 'AT_LEGAL', externalStatusLabel: null },
    '未办结 · AT_LEGAL',
    'info',
  ],
  [{ phase: 'OPEN', bizStatus: 'AT_LEGAL', externalStatusLabel: '法务审核' }, '法务审核', 'info'],
  [{ phase: 'DELETED', bizStatus: 'DONE', externalStatusLabel: '完成' }, '已删除', ''],
])('the status of %j is shown as “%s” in the tone “%s”', (matter, text, tone) => {
  expect([statusText(matter), toneOfStatus(matter)]).toEqual([text, tone]);
});

describe('usernames', () => {
  test('are taken as somebody pastes them, each once', () => {
    expect(namesIn(' a, b;c\r\n\tb　d，e、f；\n')).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(namesIn(' \n,')).toEqual([]);
  });

  test('that are none are not asked for, and of the others a thousand at a time', async () => {
    const asked: number[] = [];
    const long = 'x'.repeat(65);
    const names = [...Array.from({ length: 2_001 }, (_, n) => `u${n}`), long, 'a\u0000b'];
    const bad = await badUsers(names, async (usernames) => {
      asked.push(usernames.length);
      const stateOf = (username: string) =>
        username === 'u7' ? 'DISABLED' : username === 'u2000' ? 'UNKNOWN' : 'ENABLED';
      return { users: usernames.map((username) => ({ username, state: stateOf(username) })) };
    });
    expect(asked).toEqual([1_000, 1_000, 1]);
    expect(bad).toEqual([
      { username: 'u7', state: 'DISABLED' },
      { username: 'u2000', state: 'UNKNOWN' },
      { username: long, state: 'INVALID' },
      { username: 'a\u0000b', state: 'INVALID' },
    ]);
  });
});

describe('the checks', () => {
  const ME = {
    clientId: 'c',
    paused: null,
    signedWith: { scopes: ['query', 'push'] },
    limits: { timestampWindow: 300 },
    serviceTime: new Date(NOW).toISOString(),
  };
  const good = (data: unknown): Envelope => ({ code: 0, message: '', data, requestId: '' });
  const bad = (code: number, reason: string): Envelope => ({
    ...{ code, reason, message: `told ${reason}`, data: null, requestId: '' },
  });

  /** Where all is well but for what a test says. */
  async function check(over: Partial<Means> & { readonly me?: object } = {}): Promise<Check[]> {
    const found: Check[] = [];
    const checks = runChecks({
      isReady: async () => true,
      send: async (name) => good(name === 'clients/me' ? { ...ME, ...over.me } : null),
      now: () => NOW,
      spanText: (ms) => `${ms} ms`,
      say: ([english]) => english,
      timeText: (at) => at,
      isEncrypted: true,
      ...over,
    });
    for await (const it of checks) found.push(it);
    expect(found.map(({ name }) => name)).toEqual(CHECKS);
    return found;
  }
  const statusOf = (found: readonly Check[]) => found.map(({ status }) => status);
  const OK = 'ok';
  const SKIPPED = 'skipped';

  test('are all good where all is well', async () => {
    expect(statusOf(await check())).toEqual([OK, OK, OK, OK, OK, OK, OK]);
  });

  test('end where nobody answers, and where the signature is rejected', async () => {
    const away = await check({ isReady: async () => undefined });
    expect(statusOf(away)).toEqual(['failed', ...Array(6).fill(SKIPPED)]);
    const rejected = await check({ send: async () => bad(401, 'SIGNATURE_MISMATCH') });
    expect(statusOf(rejected)).toEqual([OK, OK, 'failed', ...Array(4).fill(SKIPPED)]);
    expect(rejected[2]?.values).toEqual(['SIGNATURE_MISMATCH', 'told SIGNATURE_MISMATCH']);
  });

  test.each<[string, Parameters<typeof check>[0], Check['name'], Check['status'], unknown[]]>([
    ['not ready', { isReady: async () => false }, 'ready', 'failed', []],
    ['plain http', { isEncrypted: false }, 'tls', 'note', []],
    ['a clock a bit off', { now: () => NOW - 60_000 }, 'clock', 'note', ['60000 ms', '300000 ms']],
    [
      'a clock far off',
      { now: () => NOW + 301_000 },
      'clock',
      'failed',
      ['301000 ms', '300000 ms'],
    ],
    [
      'a pause',
      { me: { paused: { since: '2026', reason: null } } },
      'pushes',
      'failed',
      ['2026', 'no reason was given'],
    ],
    ['a key that asks', { me: { signedWith: { scopes: ['query'] } } }, 'pushes', 'ok', []],
  ])('tell of %s, and go on', async (_, over, name, status, values) => {
    const found = await check(over);
    expect(found.find((it) => it.name === name)).toMatchObject({ status, values });
    expect(statusOf(found)).not.toContain(SKIPPED);
  });

  test('tell which bodies a gateway changes', async () => {
    const send = async (name: string, body: string) => {
      if (name === 'clients/me') return good(ME);
      const rewritten = name === 'matters/get' && body !== JSON.stringify(JSON.parse(body));
      return rewritten ? bad(401, 'SIGNATURE_MISMATCH') : good(null);
    };
    const found = await check({ send });
    expect(found.find(({ name }) => name === 'body')).toMatchObject({
      status: 'failed',
      values: ['white space, escapes, numbers, the order of fields'],
    });
    const busy = await check({
      send: async (name) =>
        name === 'matters/get' ? bad(429, 'TOO_MANY_QUERIES') : good({ ...ME }),
    });
    expect(busy.find(({ name }) => name === 'body')?.values[0]).toBe('TOO_MANY_QUERIES');
  });
});
