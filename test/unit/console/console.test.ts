/** The console: its texts, what it asks for, and that its files find each other and nothing else. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { prettyOf } from '../../../browser/console/read/bodies';
import { dateAt, dayAfter, windowOf } from '../../../browser/console/read/range';
import { REASONS } from '../../../browser/console/read/reasons';
import { whenText } from '../../../browser/console/read/when';
import { commandOf } from '../../../browser/console/screens/push/curl';
import { appended, type inOrder } from '../../../browser/console/screens/pushes/rows';
import { ALL_REASONS } from '../../../src/protocol/errors';
import { NOW } from '../../support/builders';

const ROOT = join(__dirname, '../../..');
const FOLDER = join(ROOT, 'browser/console');
const CHINESE = /[\u4e00-\u9fff]/;

const isPair = (value: unknown): value is [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every((it) => typeof it === 'string');

function* pairs(words: object, path = ''): Generator<[string, string, string]> {
  for (const [name, value] of Object.entries(words)) {
    if (isPair(value)) yield [`${path}${name}`, ...value];
    else yield* pairs(value, `${path}${name}.`);
  }
}

/** Of every file of words; those that are made later are found by their names. */
const WORD_FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /[/-]words\.js$/.test(name),
);
/** A text without letters, and a name of the wire, is the same in both. */
const SAME = /^(?:[^\p{L}]*|[a-z]+(?:[A-Z][a-z]+)+|Client ID)$/u;

describe.each(WORD_FILES)('every text of %s is there in both languages', (file) => {
  test.each([...pairs(require(join(FOLDER, file)))])('%s', (_, english, chinese) => {
    expect(english).not.toMatch(CHINESE);
    if (!SAME.test(chinese)) expect(chinese).toMatch(CHINESE);
    const places = (text: string) => text.match(/\{\d\}/g)?.sort() ?? [];
    expect(places(english)).toEqual(places(chinese));
  });
});

test('every reason of the service has words, and no other has', () => {
  expect(Object.keys(REASONS).sort()).toEqual([...ALL_REASONS].sort());
  for (const [act, english, chinese] of Object.values(REASONS)) {
    expect(['mend', 'again', 'ask', 'anew']).toContain(act);
    expect(english).not.toMatch(CHINESE);
    expect(chinese).toMatch(CHINESE);
  }
});

test.each([
  ['2026-03-02T10:36:30Z', '刚刚'],
  ['2026-03-02T10:37:30Z', '刚刚'],
  ['2026-03-02T10:20:00Z', '17 分钟前'],
  ['2026-03-02T08:05:00Z', '今天 08:05'],
  ['2026-03-02T18:00:00Z', '今天 18:00'],
  ['2026-03-01T23:59:00Z', '昨天 23:59'],
  ['2026-03-03T08:00:00Z', '明天 08:00'],
  ['2026-02-20T08:00:00Z', '2月20日 08:00'],
  ['2025-12-31T08:00:00Z', '2025年12月31日 08:00'],
])('the time %s is shown relative to now as %s', (at, text) => {
  expect(whenText(Date.parse(at), Date.parse('2026-03-02T10:37:00Z'))).toBe(text);
});

describe('ranges', () => {
  const ZONE = 'Asia/Shanghai';
  const today = dateAt(NOW, ZONE);

  test('are days of the portal, and cross months', () => {
    expect(today).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(dayAfter('2026-03-01', -1)).toBe('2026-02-28');
    expect(dayAfter('2026-12-31', 1)).toBe('2027-01-01');
    expect(windowOf({}, ZONE, NOW)).toEqual({ from: `${today}T00:00`, to: '' });
    const yesterday = { from: `${dayAfter(today, -1)}T00:00`, to: `${today}T00:00` };
    expect(windowOf({ range: 'yesterday' }, ZONE, NOW)).toEqual(yesterday);
  });

  test('of one’s own are what a browser’s input gives, and nothing else', () => {
    const own = { range: 'custom', from: '2026-01-01T08:00', to: 'javascript:alert(1)' };
    expect(windowOf(own, ZONE, NOW)).toEqual({ from: '2026-01-01T08:00', to: '' });
  });
});

test.each([
  ['{"a":1}', '{\n  "a": 1\n}'],
  ['{ "a" : {} , "b":[] }', '{\n  "a": {},\n  "b": []\n}'],
  [
    '{"a":["{",",\\"]",{"b":null}]}',
    '{\n  "a": [\n    "{",\n    ",\\"]",\n    {\n      "b": null\n    }\n  ]\n}',
  ],
  ['{"a":12345678901234567890}', '{\n  "a": 12345678901234567890\n}'],
  ['{"a":1.0,"a":"\\u4e2d"}', '{\n  "a": 1.0,\n  "a": "\\u4e2d"\n}'],
  ['no { JSON', 'no { JSON'],
])('the body %s is shown in lines, word for word', (body, shown) => {
  expect(prettyOf(body)).toBe(shown);
});

test('the command signs and sends what was pushed, whatever stands in it', () => {
  const body = '{\n  "title": "it\'s $HOME `x` \\\\ 张三 $(reboot)"\n}';
  const push = { url: 'http://h/a', clientId: "o'a", body, idempotencyKey: 'k"1' };
  const shell = `curl() { printf '%s\\0' "$@"; }\nSECRET=s\n${commandOf(push)}`;
  const sent = execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).split('\0');
  // Whatever it begins with: no name of a file.
  expect(sent.slice(-3)).toEqual(['--data-raw', body, '']);
  expect(sent).toEqual(
    expect.arrayContaining(['http://h/a', "X-Client-Id: o'a", 'X-Idempotency-Key: k"1']),
  );
  expect(sent.some((word) => /^X-Signature: [0-9a-f]{64}$/.test(word))).toBe(true);
});

test('a page of older pushes is put behind those that are there, and sorted in only where they mingle', () => {
  const row = (requestId: string) => ({ requestId }) as Parameters<typeof inOrder>[0][number];
  const ids = (rows: readonly { requestId: string }[]) => rows.map(({ requestId }) => requestId);
  const rows = [row('9'), row('7'), row('5')];
  expect(ids(appended(rows, [row('4'), row('2')]))).toEqual(['9', '7', '5', '4', '2']);
  expect(ids(appended(rows, [row('6'), row('5'), row('1')]))).toEqual(['9', '7', '6', '5', '1']);
  expect(ids(appended([], [row('1')]))).toEqual(['1']);
  expect(ids(appended(rows, []))).toEqual(['9', '7', '5']);
});
