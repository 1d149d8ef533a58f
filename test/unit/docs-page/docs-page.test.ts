/** The reference page: its texts, what it reads of the OpenAPI document, and what it signs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpointsOf, parametersOf, rejectionsOf } from '../../../browser/docs/api';
import { curlOf } from '../../../browser/docs/curl';
import { dryRunOf } from '../../../browser/docs/dry-run';
import { DIAGNOSED, findingsOf } from '../../../browser/docs/findings';
import { isVerification, linesOf } from '../../../browser/docs/lines';
import { fieldsOf, neededBy, typeOf } from '../../../browser/docs/schema';
import { entriesOf, find } from '../../../browser/docs/search';
import type { Api, Schema, Words } from '../../../browser/docs/shapes';
import { EXAMPLES } from '../../../browser/docs/signing-files';
import { aboutOf, marksOf, pairOf, titleOf } from '../../../browser/docs/text';
import {
  clockHint,
  exampleNamed,
  exampleRun,
  foundCount,
  HINTS,
  RULES,
  WORDS,
} from '../../../browser/docs/words';
import { SIGNATURE_EXAMPLE } from '../../../src/openapi/introduction';
import { helpFor } from '../../../src/protocol/envelope';
import { ALL_REASONS } from '../../../src/protocol/errors';
import { DOCUMENT, nodes } from '../../support/openapi';

const ROOT = join(__dirname, '../../..');
const FOLDER = join(ROOT, 'browser/docs');
const API = DOCUMENT as unknown as Api;
const CHINESE = /[\u4e00-\u9fff]/;

const schemaNamed = (name: string): Schema => {
  const schema = API.components.schemas[name];
  if (!schema) throw new Error(`no schema ${name}`);
  return schema;
};

/** English without Chinese, and Chinese in Chinese. */
function expectBoth([english, chinese]: Words): void {
  expect(english).toMatch(/[A-Za-z]/);
  expect(english).not.toMatch(CHINESE);
  expect(chinese).toMatch(CHINESE);
}

describe('every text is there in both languages', () => {
  test.each(Object.entries(WORDS))('%s', (_name, words) => expectBoth(words));

  test.each(Object.entries(HINTS))('the hints for %s', (reason, hints) => {
    expect(ALL_REASONS).toContain(reason);
    hints.forEach(expectBoth);
  });

  test.each(Object.entries(RULES))('the rule %s', (_name, rule) => expectBoth(rule(12)));

  test.each([-400, 400])('a clock that is %s s ahead', (seconds) => {
    expectBoth(clockHint(seconds));
    expect(clockHint(seconds).join()).not.toContain('-400');
  });

  test.each([
    exampleNamed('notice'),
    exampleRun('bash send.sh'),
    ...[0, 2, 31].map((count) => foundCount(count, 30)),
  ])('%s', (...words) => expectBoth(words as unknown as Words));

  test('every description and title of the OpenAPI document that the page shows', () => {
    const texts = [...nodes(DOCUMENT)]
      .flatMap(([, { description }]) => (typeof description === 'string' ? [description] : []))
      // Lists of reasons, which the page takes from the examples, and the head, which has a test below.
      .filter((text) => !text.startsWith('- `') && text !== API.info.description);
    expect(texts.length).toBeGreaterThan(200);
    for (const text of texts) {
      expect(text.split('\n\n')).toHaveLength(2);
      expectBoth(pairOf(text));
    }
    for (const { operation } of endpointsOf(API)) expectBoth(titleOf(operation.summary));
  });

  test('the head of the document: introduction, points, example', () => {
    const { intro, points, example } = aboutOf(API.info.description);
    expectBoth(intro);
    expect(points).toHaveLength(6);
    points.forEach(expectBoth);
    expect(example).toMatch(/^client id .*\n[^`]*$/);
    expect(example).toContain(SIGNATURE_EXAMPLE.signature);
  });

  test('nothing is said that has no words: the page itself has only its name', () => {
    const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
    const shown = html.replace(/<noscript>.*<\/noscript>/s, '').replace(/<[^>]*>/g, '');
    expect(shown.trim()).toBe('Matter Push');
  });
});

describe('the form offers the diagnosis of a rejected signature', () => {
  test('for reasons that have one, each with a row of its own, where help leads', () => {
    for (const reason of DIAGNOSED) {
      expect(API.components.examples[reason]?.value.code).toBe(401);
      expect(helpFor(reason)).toBe(`/docs#reason-${reason}`);
    }
    const sections = readFileSync(join(FOLDER, 'sections.js'), 'utf8');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the page
    expect(sections).toContain('id: `reason-${summary}`');
  });

  test('and reads what push-logs/query answers', () => {
    const findings = [{ cause: 'BODY_PRETTY', explanation: 'a', fix: 'b' }];
    const answer = { code: 0, data: { entries: [{ diagnosis: { findings } }] } };
    expect(findingsOf(JSON.stringify(answer))).toEqual(findings);
    expect(findingsOf('{"code":0,"data":{"entries":[]}}')).toBeUndefined();
    expect(findingsOf('{"code":401,"reason":"SIGNATURE_MISMATCH"}')).toBe('SIGNATURE_MISMATCH');
    expect(findingsOf('<html>')).toBe('<html>');
  });
});

test('marks of code and emphasis are taken apart, and nothing else is markup', () => {
  expect(marksOf('**New** `a<b>` <i>')).toEqual([
    { tag: 'strong', text: 'New' },
    { text: ' ' },
    { tag: 'code', text: 'a<b>' },
    { text: ' <i>' },
  ]);
});

describe('what it tells of the document', () => {
  test('all fields of a body, those of lists and nameless objects too', () => {
    const upsert = fieldsOf(schemaNamed('UpsertBody'));
    const properties = Object.keys(schemaNamed('UpsertBody').properties ?? {});
    expect(upsert.map(({ name }) => name)).toEqual(properties);
    expect(upsert.find(({ name }) => name === 'title')).toMatchObject({
      required: true,
      type: ['string'],
      rules: [['at most 512 characters', '最多 512 个字符']],
    });
    expect(upsert.find(({ name }) => name === 'parties')?.type).toEqual([
      { ref: 'Party' },
      '[]',
      ' | ',
      'null',
    ]);
    const diff = fieldsOf(schemaNamed('DiffBody')).map(({ name }) => name);
    expect(diff).toEqual(expect.arrayContaining(['lines', 'lines[].externalId']));
  });

  test('every schema has fields or a type', () => {
    for (const schema of Object.values(API.components.schemas)) {
      const told = fieldsOf(schema).length > 0 ? ['fields'] : typeOf(schema);
      expect(told).not.toEqual([]);
      expect(told).not.toContain('any');
    }
  });

  test('every reason of a code', () => {
    const [upsert] = endpointsOf(API);
    if (!upsert) throw new Error('no operations');
    const rejections = new Map(rejectionsOf(API, upsert.operation));
    expect(rejections.get('401')).toEqual(
      ALL_REASONS.filter((reason) => /^(HMAC|TIME|SIGN)/.test(reason)),
    );
    expect(rejections.get('400')).toContain('UNKNOWN_USER');
    expect(rejections.has('200')).toBe(false);
    expect(parametersOf(API, upsert.operation).map(({ name }) => name)).toEqual([
      'X-Client-Id',
      'X-Timestamp',
      'X-Signature',
      'Accept-Language',
      'X-Idempotency-Key',
      'X-Strict-Fields',
    ]);
  });
});

describe('the schemas that are folded under an operation', () => {
  const { schemas } = API.components;

  test('are all that its answer is made of, the nearest first', () => {
    expect(neededBy(schemas, { $ref: '#/components/schemas/LogAnswer' }).slice(0, 3)).toEqual([
      'LogAnswer',
      'LogPage',
      'LogEntry',
    ]);
    expect(neededBy(schemas, schemaNamed('UpsertBody'))).toEqual(['Party', 'PartyRemoval']);
    expect(neededBy(schemas, { contentSchema: { items: { $ref: '#/x/OrphansLine' } } })).toEqual([
      'OrphansLine',
    ]);
  });

  test('end where schemas name each other', () => {
    const one = { properties: { next: { $ref: '#/two' } } };
    const two = { items: { $ref: '#/one' } };
    expect(neededBy({ one, two }, one)).toEqual(['two', 'one']);
  });

  test('are all schemas, with those of errors', () => {
    const text = JSON.stringify(API.paths) + JSON.stringify(API.components.responses);
    const roots = [...text.matchAll(/"\$ref":"(#\/components\/schemas\/\w+)"/g)];
    const told = roots.flatMap(([, $ref = '']) => neededBy(schemas, { $ref }));
    expect([...new Set(told)].sort()).toEqual(Object.keys(schemas).sort());
  });
});

describe('the search', () => {
  const sections = [{ id: 'signing', title: WORDS.signing }];
  const entries = entriesOf(API, sections);
  const links = (sought: string) => find(entries, sought).map(({ href }) => href);

  test.each([
    ['X-Idempotency-Key', '#header-X-Idempotency-Key'],
    ['unknown_user', '#reason-UNKNOWN_USER'],
    ['如何签名', '#signing'],
    ['HOW TO SIGN', '#signing'],
    ['查询推送日志', '#queryPushLog'],
    ['push log search', '#queryPushLog'],
    ['/api/open/matters/upsert', '#upsertMatter'],
    ['partyRole', '#upsertMatter-Party.partyRole'],
    ['lines[].externalId', '#diffMatters-DiffBody.lines[].externalId'],
  ])('for %s finds %s first', (sought, href) => {
    expect(links(sought)[0]).toBe(href);
  });

  test.each(['', '  ', 'no such thing', 'upsert nosuchthing'])('for %j finds nothing', (sought) => {
    expect(links(sought)).toEqual([]);
  });

  test('names come before texts that mention them', () => {
    const found = find(entries, 'status').map(({ name }) => /status/i.test(name[0]));
    expect(found).toContain(false);
    expect(found.lastIndexOf(true)).toBeLessThan(found.indexOf(false));
  });

  test('has no link twice', () => {
    const all = entries.map(({ href }) => href);
    expect(all.filter((href, index) => all.indexOf(href) !== index)).toEqual([]);
  });
});

test('a dry run is the very body of the push, sent to be verified', () => {
  const body = '{ "externalId": "A", "deadlineAt": 12345678901234567890 }';
  expect(dryRunOf(API, '/api/open/matters/upsert')?.(body)).toEqual({
    path: '/api/open/verify',
    type: 'application/json',
    body: `{"operation":"upsert","push":${body}}`,
  });
  // Of a batch it is the batch itself.
  const paths = { ...API.paths, '/api/open/verify/batch': {} };
  expect(dryRunOf({ ...API, paths }, '/api/open/matters/batch')?.(body)).toEqual({
    path: '/api/open/verify/batch',
    type: 'application/x-ndjson',
    body,
  });
  expect(dryRunOf(API, '/api/open/verify')).toBeUndefined();
  const withOne = endpointsOf(API).filter(({ path }) => dryRunOf(API, path));
  // A resend has a field for it.
  const pushes = endpointsOf(API).filter(
    ({ path, operation }) => operation.tags.includes('push') && !path.endsWith('/resend'),
  );
  expect(withOne).toEqual(pushes);
});

describe('the answer to a batch', () => {
  const good = { line: 1, code: 0, message: 'success', requestId: 'a', externalId: 'A' };
  const bad = {
    ...{ line: 3, code: 400, message: '请求参数校验失败', reason: 'VALIDATION_FAILED' },
    ...{ requestId: 'b', externalId: null, errors: [{ field: 'title', message: '必填' }] },
  };

  test('is a row for each line', () => {
    const results = [{ ...good, outcome: 'CREATED', replayed: true }, bad];
    expect(linesOf({ results })).toEqual([
      {
        ...{ line: 1, externalId: 'A', isGood: true, result: 'CREATED' },
        texts: ['Idempotency-Replayed'],
      },
      {
        ...{ line: 3, externalId: '', isGood: false, result: '400 VALIDATION_FAILED' },
        texts: ['请求参数校验失败', 'title: 必填'],
      },
    ]);
    expect(linesOf({ matterId: '1' })).toBeUndefined();
    expect(linesOf(null)).toBeUndefined();
  });

  test('is told from that to its dry run, where nothing is in the log', () => {
    const { requestId, ...verified } = good;
    expect(requestId).toBe('a');
    expect(isVerification({ results: [good, bad] })).toBe(false);
    expect(isVerification({ results: [verified] })).toBe(true);
    expect(isVerification({ valid: true })).toBe(true);
    expect(isVerification(null)).toBe(false);
  });
});

test('the command sends what was signed, whatever stands in it', () => {
  const body = '{\n  "title": "it\'s $HOME `x` \\\\ 张三"\n}';
  const call = { url: 'http://h/a?b', headers: { 'X-Client-Id': "o'a" }, body, signed: '' };
  const shell = `curl() { printf '%s\\0' "$@"; }\n${curlOf(call)}`;
  const sent = execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).split('\0');
  expect(sent).toEqual(['-sS', 'http://h/a?b', '-H', "X-Client-Id: o'a", '--data-raw', body, '']);
});

test('the examples are those of their README, in its order', () => {
  const readme = readFileSync(join(ROOT, 'examples/signing/README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| ([^|]+) \| (\[[^|]+) \| `([^|]+)` \|/gm)];
  const told = rows.map(([, name, files = '', command]) => ({
    name,
    command,
    files: [...files.matchAll(/\[([^\]]+)\]/g)].map(([, file]) => file),
  }));
  expect(EXAMPLES).toEqual(told);
});

test('the page signs every vector, without crypto.subtle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-docs-'));
  try {
    const bundled = join(folder, 'sign.mjs');
    const esbuild = join(ROOT, 'node_modules/.bin/esbuild');
    const options = ['--bundle', '--format=esm', '--log-level=error', `--outfile=${bundled}`];
    execFileSync(esbuild, [join(ROOT, 'browser/docs/sign.js'), ...options]);
    const script = `Object.defineProperty(globalThis, 'crypto', { value: undefined });
      const { signature, signedText } = await import(${JSON.stringify(bundled)});
      const vectors = JSON.parse(process.argv[1]);
      console.log(JSON.stringify(vectors.map((it) => signature(it.secret, signedText(it)))));`;
    const vectors = readFileSync(join(ROOT, 'examples/signing/vectors.json'), 'utf8');
    const args = ['--input-type=module', '--eval', script, vectors];
    const signed = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    const expected = JSON.parse(vectors).map((it: { signature: string }) => it.signature);
    expect(expected.length).toBeGreaterThan(3);
    expect(signed).toEqual(expected);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
