/** The console: its texts, what it asks for, and that its files find each other and nothing else. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prettyOf } from '../../../public/console/bodies';
import { commandOf } from '../../../public/console/curl';
import { appended, type inOrder } from '../../../public/console/push-rows';
import { dateAt, dayAfter, windowOf } from '../../../public/console/range';
import { REASONS } from '../../../public/console/reasons';
import { readConsoleFiles } from '../../../src/http/routes/console-files';
import { ALL_REASONS } from '../../../src/protocol/errors';
import { NOW } from '../../support/builders';

/** Modules of the service that the console runs too. */
const SHARED = ['matter', 'operation', 'parties', 'decide', 'fold', 'full-upsert', 'compare']
  .concat('expected', 'find', 'repush', 'read-row', 'row-content', 'doubts', 'look-alike')
  .concat('csv-cell', 'encodings', 'csv', 'columns', 'cells', 'times');
const FOLDER = join(__dirname, '../../../public/console');
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
const WORD_FILES = readdirSync(FOLDER).filter((name) => /(^|-)words\.js$/.test(name));
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

describe('its files', () => {
  const files = readConsoleFiles(FOLDER);
  const own = readdirSync(FOLDER).filter((name) => /\.(js|css|svg)$/.test(name));

  test('are those of the folder and of its libraries, and the page lies at /console', () => {
    const libraries = [
      'hmac',
      'sha2',
      'utils',
      '_md',
      '_u64',
      'preact',
      'hooks',
      'signals',
      'signals-core',
      ...SHARED,
    ];
    expect([...files.keys()].sort()).toEqual(
      [
        '/console',
        ...own.map((name) => `/console/${name}`),
        ...libraries.map((name) => `/console/lib/${name}.js`),
      ].sort(),
    );
  });

  test('import by relative names only, and only what is there', () => {
    for (const [path, { bytes }] of files) {
      if (!path.endsWith('.js')) continue;
      const text = String(bytes).replace(/\/\*.*?\*\//gs, '');
      const names = [...text.matchAll(/\b(?:from|import)\s*["']([\w@./-]+)["']/g)].map(
        ([, name = '']) => name,
      );
      const missing = names.filter(
        (name) => !/^\.\.?\//.test(name) || !files.has(new URL(name, `http://h${path}`).pathname),
      );
      expect([path, missing]).toEqual([path, []]);
    }
  });

  test('name no other origin', () => {
    for (const name of own) {
      const text = String(files.get(`/console/${name}`)?.bytes);
      const names = text.match(/\b(?:https?:)?\/\/[a-z][\w.-]*\.[a-z]{2,}[^\s'"]*/g) ?? [];
      expect([name, names.filter((it) => it !== 'http://www.w3.org/2000/svg')]).toEqual([name, []]);
    }
  });

  test('hold nothing inline', () => {
    const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<style|<script(?![^>]* src=)|style=|\son\w+=/);
  });

  test('of styles are all linked', () => {
    const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
    const linked = [...html.matchAll(/<link rel="stylesheet" href="console\/([^"]+)"/g)];
    expect(linked.map(([, name]) => name).sort()).toEqual(
      own.filter((name) => name.endsWith('.css')),
    );
  });
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
