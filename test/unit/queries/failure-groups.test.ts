/** Failed pushes by reason and field: what is counted, and that it stays bounded. */
import type { Failures } from '../../../src/protocol/failures';
import { groupsOf, rowOf } from '../../../src/queries/failure-groups';
import { createFailures } from '../../../src/queries/failures';
import type { LogEntry } from '../../../src/storage/push-log/entry';
import { aLogEntry } from '../../support/log-entries';

const AT = Date.UTC(2026, 10, 20);
const FAILED = { clientId: 'c', state: 'REFUSED', result: 'VALIDATION_FAILED' } as const;
const entry = (n: number, more: Partial<LogEntry> = {}) =>
  aLogEntry({ ...FAILED, externalId: `E-${n}`, ...more }, AT + n);
const problem = (field: string) => ({ field, message: 'no' });
const subject = (entries: LogEntry[]) => ({ entries, mended: null });

test('a field is counted once for each push, whatever its places in lists are', () => {
  const problems = [problem('parties[0].username'), problem('parties[7].username')];
  const one = subject([entry(2, { problems }), entry(1, { problems })]);
  expect(groupsOf([one]).groups).toMatchObject([
    { field: 'parties[].username', pushes: 2, matters: 1, stillFailed: 1 },
  ]);
  expect(rowOf(one, 'en')).toMatchObject({ fields: ['parties[].username'], failures: 2 });
});

test('a missing matter names the upsert that should have created it', () => {
  const status = (n: number) => entry(n, { operation: 'status', result: 'MATTER_NOT_FOUND' });
  const problems = [{ ...problem('title'), english: 'must not be blank' }];
  const upsert = entry(1, { problems });
  const cause = (entries: LogEntry[]) => rowOf(subject(entries), 'en').cause;
  expect(cause([status(3), status(2), upsert])).toEqual({
    ...{ requestId: String(upsert._id), reason: 'VALIDATION_FAILED', fields: ['title'] },
    problems: [{ field: 'title', message: 'must not be blank' }],
  });
  // The first attempt was corrected in part, and the second one failed for another field.
  const later = entry(2, { problems: [problem('parties[0].username')] });
  expect(cause([status(4), status(3), later, upsert])).toMatchObject({
    ...{ requestId: String(later._id), fields: ['parties[].username'] },
  });
  expect(cause([status(4), later, status(2), upsert])?.requestId).toBe(String(later._id));
  expect(cause([status(2)])).toBeNull();
  expect(cause([entry(2), upsert])).toBeNull();
});

test('names of fields that callers made up do not make an answer without end', () => {
  const many = Array.from({ length: 300 }, (_, n) =>
    subject([entry(n, { problems: [problem(`made-up-${n}`)] })]),
  );
  const { groups, moreGroups } = groupsOf(many);
  expect([groups.length, moreGroups]).toEqual([200, 100]);
});

test('a page ends after so many failures, also of one matter, and goes on behind them', async () => {
  const all = Array.from({ length: 25 }, (_, n) => entry(100 - n, { externalId: 'E' }));
  const asked: (string | undefined)[] = [];
  const answer = createFailures({
    search: {
      all: async function* (_filter, { after } = {}) {
        asked.push(after);
        const begin = all.findIndex(({ _id }) => String(_id) === after);
        yield* all.slice(begin + 1);
      },
    },
    findMended: async () => new Map(),
    counts: { unrecorded: async () => 0 },
    timeZone: 'UTC',
    retention: 1,
    clock: () => AT,
    maxChecked: 10,
  });
  const ask = (body: Readonly<Record<string, unknown>>) =>
    answer({
      systemCode: 'S',
      clientId: 'c',
      secretId: 's',
      body,
      language: 'zh',
    }) as Promise<Failures>;
  const first = await ask({});
  expect(first).toMatchObject({ complete: false, totals: { pushes: 10, matters: 1 } });
  const second = await ask({ cursor: first.nextCursor });
  const third = await ask({ cursor: second.nextCursor });
  expect(third).toMatchObject({ complete: true, nextCursor: null, totals: { pushes: 5 } });
  expect(asked).toEqual([undefined, String(all[9]?._id), String(all[19]?._id)]);
});
