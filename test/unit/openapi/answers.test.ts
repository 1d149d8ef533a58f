/** What the OpenAPI document says of answers is what the service makes. */
import { Types } from 'mongoose';
import { toEntryView } from '../../../src/queries/presenters/entry';
import { toMatterView } from '../../../src/queries/presenters/matter';
import { aFullMatter, aMatter, NOW } from '../../support/builders';
import { problemsOf, type Schema } from '../../support/json-schema';
import { DOCUMENT, examplesOf, OPERATIONS, responseOf } from '../../support/openapi';

const problems = (schema: Schema, value: unknown) =>
  problemsOf(schema, value, { document: DOCUMENT, closed: true });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const fieldsOf = (name: string) =>
  Object.keys(DOCUMENT.components.schemas[name]?.properties ?? {}).sort();

test('every example of an answer is as its schema says, field by field', () => {
  const seen = OPERATIONS.flatMap(({ operation }) =>
    Object.keys(operation.responses).flatMap((code) =>
      examplesOf(responseOf(operation, code)?.content),
    ),
  );
  expect(seen.length).toBeGreaterThan(100);
  for (const { schema, value } of seen) expect(problems(schema, value)).toEqual([]);
});

test('a line of the orphans is one of those that are told', () => {
  const { post } = DOCUMENT.paths['/api/open/matters/orphans'] ?? {};
  const { content } = (post && responseOf(post, 200)) ?? {};
  const body = content?.['application/x-ndjson']?.schema as { contentSchema: { items: Schema } };
  const line = body.contentSchema.items;
  const [example] = examplesOf(content);
  const lines = String(example?.value).trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  for (const text of lines) expect(problems(line, JSON.parse(text))).toEqual([]);
});

test.each([aMatter(), aFullMatter()])('a matter is shown as it says', (matter) => {
  const view = toMatterView(matter, 'Asia/Shanghai');
  expect(Object.keys(view).sort()).toEqual(fieldsOf('Matter'));
  expect(problems(ref('Matter'), view)).toEqual([]);
});

test('an entry of the log is shown as it says', () => {
  const id = new Types.ObjectId();
  const at = new Date(NOW);
  const least = {
    _id: id,
    clientId: 'c',
    operation: 'upsert',
    bodyHash: 'ab'.repeat(32),
    bodySize: 0,
    receivedAt: at,
    deadlineAt: at,
    state: 'QUEUED' as const,
  };
  const most = {
    ...least,
    state: 'REFUSED' as const,
    result: 'VALIDATION_FAILED',
    problems: [{ field: 'title', message: 'no' }],
    stale: { sent: at, stored: at },
    matterId: 7n,
    revision: 3,
    changes: [
      { field: 'deleted', from: false, to: true },
      { field: 'parties', added: ['CC li'] },
    ],
    ...{ queuedAt: at, startedAt: at, settledAt: at, duplicateOf: id, resentFrom: id },
    mark: 'KEY_REUSED' as const,
  };
  for (const entry of [least, most]) {
    const view = toEntryView(entry, 1, 'zh');
    expect([...Object.keys(view), 'body', 'diagnosis'].sort()).toEqual(fieldsOf('LogEntry'));
    expect(problems(ref('LogEntry'), view)).toEqual([]);
  }
});
