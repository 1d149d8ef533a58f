/** A field of the push log is described once; whoever shows entries shows it by that alone. */
import mongoose, { Types } from 'mongoose';
import { ENTRY_FIELDS, entryView, operatorEntryView } from '../../../src/protocol/log-entry';
import { toEntryView, toOperatorEntryView } from '../../../src/queries/presenters/entry';
import { entryModel, type LogEntry } from '../../../src/storage/push-log/entry';
import { csvOf } from '../../../tools/matterctl/log/csv';
import { detailsOf, headline, listsOf } from '../../../tools/matterctl/log/entry-details';
import { timelineLines, timelineOf } from '../../../tools/matterctl/log/timeline';
import { DOCUMENT } from '../../support/openapi';

/** Fields of the database that are shown under other names. */
const SHOWN_AS: Readonly<Record<string, readonly string[]>> = {
  _id: ['requestId'],
  result: ['outcome', 'reason'],
  signature: ['diagnosis'],
};

const shownTo = (...readers: readonly string[]) =>
  Object.entries(ENTRY_FIELDS).flatMap(([name, field]) =>
    readers.includes(field.shownTo) ? name : [],
  );
const FOR_CLIENTS = shownTo('clients');
const FOR_OPERATORS = shownTo('clients', 'operators');

const id = new Types.ObjectId();
const at = new Date('2024-06-01T00:00:00.123Z');
/** With a value in every field. */
const FULL: Required<LogEntry> = {
  _id: id,
  clientId: 'the client',
  systemCode: 'the system',
  operation: 'upsert',
  externalId: 'the matter',
  idempotencyKey: 'the key',
  idempotencyFingerprint: 'the fingerprint',
  batchId: new Types.ObjectId(),
  batchLine: 33_009,
  bodyHash: 'ab'.repeat(32),
  bodySize: 123_456,
  secretId: 'the secret',
  receivedAt: at,
  expireAt: at,
  deadlineAt: at,
  queuedAt: at,
  startedAt: at,
  state: 'REFUSED',
  settledAt: at,
  result: 'VALIDATION_FAILED',
  failure: 'VALIDATION_FAILED',
  problems: [{ field: 'title', message: 'no' }],
  warnings: [{ field: 'titel', message: 'no', kind: 'UNKNOWN_FIELD' }],
  signature: { timestamp: '1', digest: 'd' } as unknown as NonNullable<LogEntry['signature']>,
  stale: { sent: at, stored: at },
  matterId: 77_001n,
  revision: 88_002,
  changes: [{ field: 'bizStatus', to: 'DONE' }],
  duplicateOf: new Types.ObjectId(),
  resentFrom: new Types.ObjectId(),
  operator: 'the operator',
  mark: 'KEY_REUSED',
  worker: 'the worker',
  traceId: 'cd'.repeat(16),
};

test('every field that is stored is shown, or is internal by its description', () => {
  const stored = Object.keys(entryModel(mongoose.createConnection()).schema.paths);
  expect(stored.length).toBeGreaterThan(20);
  expect(Object.keys(FULL).sort()).toEqual([...stored].sort());
  const answered = Object.keys(DOCUMENT.components.schemas.LogEntry?.properties ?? {});
  for (const name of stored) {
    for (const shown of SHOWN_AS[name] ?? []) expect(answered).toContain(shown);
    if (!(name in SHOWN_AS)) expect(Object.keys(ENTRY_FIELDS)).toContain(name);
  }
});

test('what an entry does not have is null, also where somebody wrote null into it', () => {
  const { externalId: _, ...without } = FULL;
  const withNull = { ...FULL, externalId: null } as unknown as LogEntry;
  for (const entry of [without, withNull]) {
    expect(toEntryView(entry, 1, 'en')).toMatchObject({ externalId: null, clientId: 'the client' });
  }
});

test('clients are shown what is theirs, in the order of the table; operators the rest', () => {
  expect(Object.keys(toEntryView(FULL, 1, 'en'))).toEqual(FOR_CLIENTS);
  expect(Object.keys(toOperatorEntryView(FULL, 1))).toEqual(FOR_OPERATORS);
  expect(FOR_OPERATORS.filter((name) => !FOR_CLIENTS.includes(name))).toEqual([
    'worker',
    'operator',
  ]);
  expect(shownTo('service')).toEqual(['idempotencyFingerprint', 'failure', 'expireAt']);
});

test('what is shown is as its schema says, whether an entry has it or not', () => {
  const { _id, clientId, operation, bodyHash, bodySize, receivedAt, deadlineAt } = FULL;
  const least = { _id, clientId, operation, bodyHash, bodySize, receivedAt, deadlineAt };
  for (const entry of [FULL, { ...least, state: 'QUEUED' as const }]) {
    expect(entryView.strict().safeParse(toEntryView(entry, 1, 'zh')).error).toBeUndefined();
    const view = toOperatorEntryView(entry, undefined);
    expect(operatorEntryView.strict().safeParse(view).error).toBeUndefined();
  }
});

test('the API document has each field that clients are shown, in both languages', () => {
  const properties = DOCUMENT.components.schemas.LogEntry?.properties ?? {};
  expect(Object.keys(properties)).toEqual([...FOR_CLIENTS, 'body', 'diagnosis']);
  for (const { description } of Object.values(properties)) {
    expect(description).toMatch(/^[\x20-\x7e]+\n\n.*\p{Script=Han}/u);
  }
});

test('matterctl log export has a column for each field, matterctl log show a value', () => {
  const columns = (ofOperators: boolean) => csvOf(ofOperators).header().split(',').sort();
  expect(columns(false)).toEqual([...FOR_CLIENTS].sort());
  expect(columns(true)).toEqual([...FOR_OPERATORS].sort());

  const view = toOperatorEntryView(FULL, 1);
  const shown = [
    headline(view, 'UTC'),
    ...timelineLines(timelineOf(view), 'UTC'),
    ...Object.values(detailsOf(view, [], 'UTC')),
    ...listsOf(view, 'UTC'),
  ].join('\n');
  for (const [name, value] of Object.entries(view)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    // Where it is settled, until when its caller would have waited is of no interest any more.
    if (name === 'deadlineAt') continue;
    const text = name.endsWith('At') ? String(value).replace('T', ' ').replace('Z', '') : value;
    expect(`${name}: ${shown}`).toContain(String(text));
  }
});
