/** The generated files are up to date, and the JSON Schemas say with ajv what the service says of lines and answers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { OPERATIONS } from '../../../src/domain/operation';
import { publishedFiles } from '../../../src/openapi/published';
import { ENDPOINTS } from '../../../src/protocol/endpoints';
import { BATCH_PATH, pushPath, queryPath } from '../../../src/protocol/paths';
import { toMatterView } from '../../../src/queries/presenters/matter';
import { WRONG } from '../../support/bad-upserts';
import { aFullMatter, aMatter } from '../../support/builders';
import { DOCUMENT, examplesOf, responseOf } from '../../support/openapi';

const ROOT = join(__dirname, '../../..');
const FILES = publishedFiles();

test.each([...FILES.keys()])('%s is up to date', (path) => {
  const isSame = readFileSync(join(ROOT, path), 'utf8') === FILES.get(path);
  expect(isSame ? path : `${path} is an older one: npm run openapi`).toBe(path);
});

/** The compiled schema of a file. Strict: an unknown keyword or a reference to nothing is an error. */
function compiled(name: string) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
  addFormats(ajv);
  return ajv.compile(JSON.parse(FILES.get(`docs/schemas/${name}.schema.json`) ?? ''));
}

describe('a push line', () => {
  const isLine = compiled('push-line');
  const examples = OPERATIONS.flatMap((op) => {
    const endpoint = ENDPOINTS.find(({ path }) => path === pushPath(op));
    return Object.values(endpoint?.body.examples ?? {}).map((body) => ({ op, body }));
  });
  const upsert = { matterType: 'TODO', externalId: 'PR-1', title: 'a title' };

  test.each(examples)('is one with the example of $op as its body', (line) => {
    expect([isLine(line), isLine.errors]).toEqual([true, null]);
    expect(isLine({ ...line, key: 'PR-1/1' })).toBe(true);
  });

  test('is one in every example of a batch', () => {
    const { body } = ENDPOINTS.find(({ path }) => path === BATCH_PATH) ?? {};
    const lines = Object.values(body?.examples ?? {}).flat();
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect([line, isLine(line)]).toEqual([line, true]);
  });

  test.each([
    ['no operation', { body: upsert }],
    ['an unknown operation', { op: 'insert', body: upsert }],
    ['no body', { op: 'delete' }],
    ['a body of another operation', { op: 'upsert', body: { externalId: 'PR-1' } }],
    ['a key with a line feed', { op: 'upsert', body: upsert, key: 'a\nb' }],
    ['a text in place of an object', 'PR-1'],
  ])('is none with %s', (_what, line) => {
    expect(isLine(line)).toBe(false);
  });

  /** These depend on the directory, the clock, the depth or the content of a text, of which the schema knows nothing. */
  const BEYOND = [
    'an unknown user',
    'a sourceUpdatedAt of tomorrow',
    'a payloadJson that is no JSON',
    'an unknown initiator of a draft',
    '33 levels',
  ];
  const wrong = WRONG.filter(([what]) => !BEYOND.includes(what));

  test('the exceptions are among the wrong upserts', () => {
    expect(WRONG.length - wrong.length).toBe(BEYOND.length);
  });

  test.each(wrong)('is none with %s', (_what, change) => {
    const body = { ...upsert, parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }] };
    const line = JSON.parse(JSON.stringify({ op: 'upsert', body: { ...body, ...change } }));
    expect(isLine(line)).toBe(false);
  });
});

describe('a batch answer', () => {
  const isAnswer = compiled('batch-answer');
  const { post } = DOCUMENT.paths[BATCH_PATH] ?? {};
  const answers = Object.keys(post?.responses ?? {}).flatMap((code) =>
    examplesOf((post && responseOf(post, code))?.content).map(({ value }) => ({ code, value })),
  );

  test('is one in every example, with each code', () => {
    const refused = answers.filter(({ value }) => !isAnswer(value));
    expect(refused).toEqual([]);
    expect(new Set(answers.map(({ code }) => code))).toContain('207');
    expect(answers.length).toBeGreaterThan(10);
  });

  test('is none without its totals, with a result of no line, or with the data of a dry run', () => {
    const { value } = answers.find(({ code }) => code === '207') ?? {};
    const partial = value as { data: { total: number; results: object[] } };
    const { total, ...data } = partial.data;
    expect(total).toBeGreaterThan(0);
    expect(isAnswer({ ...partial, data })).toBe(false);
    expect(isAnswer({ ...partial, data: { ...partial.data, results: [{ code: 0 }] } })).toBe(false);
    const dryRun = ENDPOINTS.find(({ path }) => path === queryPath('verify/batch'));
    const [verified] = Object.values(dryRun?.answer.examples ?? {});
    expect(isAnswer({ ...partial, data: verified })).toBe(false);
  });
});

describe('a matter', () => {
  const isMatter = compiled('matter');

  test.each([aMatter(), aFullMatter()])('is as the queries show it', (matter) => {
    const view = toMatterView(matter, 'Asia/Shanghai');
    expect([isMatter(view), isMatter.errors]).toEqual([true, null]);
    expect(isMatter({ ...view, matterId: Number(view.matterId) })).toBe(false);
    expect(isMatter({ ...view, phase: 'NEW' })).toBe(false);
  });
});
