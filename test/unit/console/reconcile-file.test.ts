/** What the console's reconciliation reads of a file, whatever stands in it: as matterctl reads it. */
import fc from 'fast-check';
import { language } from '../../../browser/console/kit/speech';
import { readShare, withDoubts } from '../../../browser/console/screens/reconcile/doubts';
import { FIELDS } from '../../../browser/console/screens/reconcile/mapping';
import { parseBody } from '../../../browser/console/screens/reconcile/push-bodies';
import { openFile, readSource } from '../../../browser/console/screens/reconcile/read-source';
import { sampleText } from '../../../browser/console/screens/reconcile/sample';
import { RECONCILE } from '../../../browser/console/screens/reconcile/words';
import { OPERATIONS } from '../../../src/domain/operation';
import { guessMapping } from '../../../src/files/columns';
import { createBodyParsers } from '../../../src/protocol/requests';
import { encode } from '../../support/encode';

const PORTAL = { systemCode: 'T', timeZone: 'Asia/Shanghai', concluded: new Set(['DONE']), now: 0 };

test('a field has words, so that its column can be chosen', () => {
  for (const field of FIELDS) expect(RECONCILE.fields).toHaveProperty(field);
});

test.each(['en', 'zh'])('the sample file is read whole, with its heads in %s', async (name) => {
  language.value = name;
  const opened = await open(sampleText());
  const mapping = guessMapping(opened.records[0]?.cells ?? []);
  expect(mapping).toEqual([
    ...['externalId', 'title', 'matterType', 'bizType', 'bizStatus', 'sourceUpdatedAt', 'assignee'],
  ]);
  const source = await read(sampleText());
  expect(source).toMatchObject({ leftOut: 0, lines: 2 });
  expect(source.matters).toMatchObject([
    { expected: { externalId: 'PR-001', bizStatus: 'PENDING' }, assignees: ['alice'] },
    { expected: { externalId: 'PR-002', bizStatus: 'DONE' }, assignees: ['bob'] },
  ]);
});

const file = (content: string | Uint8Array<ArrayBuffer>) => new Blob([content]);
const open = (content: string | Uint8Array<ArrayBuffer>, name = 'a.csv') =>
  openFile(file(content), name);
async function read(content: string, name = 'a.csv') {
  const opened = await open(content, name);
  const mapping = guessMapping(opened.records[0]?.cells ?? []);
  return readSource(opened, { mapping, hasHead: true, portal: PORTAL, onLine: () => undefined });
}

describe('a file', () => {
  test('in GBK, in UTF-16 or with a byte order mark has the same text', async () => {
    const gbk = new Uint8Array([0xb1, 0xe0, 0xba, 0xc5, 0x2c, 0x61]);
    const utf16 = new Uint8Array(Buffer.from('\ufeff编号,a', 'utf16le'));
    const all = [
      await open('编号,a'),
      await open('\ufeff编号,a'),
      await open(gbk),
      await open(utf16),
    ];
    expect(all.map(({ encoding }) => encoding)).toEqual(['utf-8', 'utf-8', 'gb18030', 'utf-16le']);
    for (const { records } of all) expect(records).toEqual([{ cells: ['编号', 'a'], line: 1 }]);
  });

  test.each([
    ['', 'empty'],
    [' \r\n\n', 'empty'],
    [',,\n,', 'empty'],
    ['a,"b\nc', 'quote'],
    [new Uint8Array([0x61, 0xff, 0xff, 0xff, 0x0a]), 'unknown'],
    // By its mark it is UTF-8: read as GBK its Chinese would be other Chinese.
    [new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from('编,标题\nA,审批'), 0xb1, 0xe0]), 'damaged'],
    [new Uint8Array([...Buffer.from('编,标题\nA,审批'), 0xb1, 0x0a]), 'mostly-utf-8'],
    [new Uint8Array(encode('id,標題\nA,報銷單已審', 'big5')), 'doubtful'],
    [new Uint8Array(Buffer.from('id,title\nA,x', 'utf16le')), 'unmarked'],
  ])('that nothing can be read of says why: %j', async (content, why) => {
    await expect(open(content)).rejects.toMatchObject({ name: 'FileError', why });
  });

  test.each([
    ['a.csv', '{"op":1,"body":2}', 'csv'],
    ['a.ndjson', 'x', 'rows'],
    ['a.txt', '\n{"externalId":"a"}', 'rows'],
    ['a.jsonl', '{"op":"upsert","body":{}}', 'pushes'],
    ['a', 'externalId,x', 'csv'],
    ['a.ndjson', '{"line":1,"text":"{\\"op\\":\\"upsert\\",\\"body\\":{}}"}', 'pushes'],
  ])('%s with %s is read as %3$s', async (name, content, form) => {
    expect((await open(content, name)).form).toBe(form);
  });

  test('whose head has line breaks in quotes is divided as it says', async () => {
    const source = await read('"业务\n主键";"办理,\n状态"\nA;DONE\n"B";PENDING');
    expect(source.leftOut).toBe(0);
    expect((await open('"业务\n主键";"办理\n状态"\nA;DONE')).records).toEqual([
      { cells: ['业务\n主键', '办理\n状态'], line: 1 },
      { cells: ['A', 'DONE'], line: 4 },
    ]);
    expect(source.matters.map(({ expected }) => expected.externalId)).toEqual(['A', 'B']);
  });

  test.each(['a.csv', 'a.ndjson'])(
    '%s that was written anew since it was chosen is not compared as it was',
    async (name) => {
      const content = name === 'a.csv' ? 'externalId\nA' : '{"externalId":"A"}';
      const opened = await open(content, name);
      // As a browser says it of a file that is another one by now.
      const refuse = () => Promise.reject(new DOMException('changed', 'NotReadableError'));
      const gone = Object.assign(file(content), { slice: () => ({ arrayBuffer: refuse }) });
      const reading = { mapping: guessMapping(['externalId']), hasHead: true, portal: PORTAL };
      const again = readSource(
        { ...opened, file: gone as unknown as Blob },
        { ...reading, onLine: () => undefined },
      );
      await expect(again).rejects.toMatchObject({ name: 'FileError', why: 'changed' });
    },
  );

  test('bad lines are named and left out, the others are compared', async () => {
    const lines = [
      'externalId,bizStatus,sourceUpdatedAt,deleted,title',
      'A,DONE,2026-01-01 08:00:00,FALSE,=1+1',
      'B,done,,,',
      ',DONE,,,',
      'A,DONE,,,',
      'C,DONE,yesterday,maybe,',
      'D,DONE,,,t,too many',
      'E\u0000,,,,',
      'F',
    ];
    const source = await read(lines.join('\r\n'));
    expect(source.matters).toEqual([
      {
        kind: 'row',
        expected: {
          externalId: 'A',
          bizStatus: 'DONE',
          sourceUpdatedAt: Date.UTC(2026, 0, 1),
          deleted: false,
        },
        pushed: { title: '=1+1' },
        precisions: { sourceUpdatedAt: 1_000 },
      },
      { kind: 'row', expected: { externalId: 'F' }, pushed: {} },
    ]);
    expect(source.problems).toEqual([
      { line: 3, wrong: 'invalid', about: 'bizStatus' },
      { line: 4, wrong: 'missing', about: 'externalId' },
      { line: 5, wrong: 'twice', about: '2' },
      { line: 6, wrong: 'invalid', about: 'sourceUpdatedAt' },
      { line: 6, wrong: 'invalid', about: 'deleted' },
      { line: 7, wrong: 'cells', about: '6 > 5' },
      { line: 8, wrong: 'invalid', about: 'externalId' },
    ]);
    expect(source).toMatchObject({ leftOut: 6, unnamed: 3 });
    expect([...source.ids]).toEqual(['A', 'F', 'B', 'C']);
  });

  test('of pushes is folded as the service does it', async () => {
    const body = { matterType: 'TODO', externalId: 'A', title: 't', sourceUpdatedAt: 2 };
    const lines = [
      { op: 'upsert', body },
      { op: 'status', body: { externalId: 'A', bizStatus: 'DONE', sourceUpdatedAt: 3 }, key: 'k' },
      { op: 'reopen', body: { externalId: 'A', sourceUpdatedAt: 4 } },
      { op: 'status', body: { externalId: 'A', bizStatus: 'DONE', sourceUpdatedAt: 3 }, key: 'k' },
      { op: 'upsert', body: { ...body, title: 'stale', sourceUpdatedAt: 1 } },
      { op: 'status', body: { externalId: 'B' } },
      { op: 'upsert', body: { matterType: 'NOTICE', title: 'n' } },
      { op: 'upsert', body: { ...body, externalId: 'C', title: ' ' } },
      { op: 'drop', body },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    const source = await read(`${text}\nno JSON\n`, 'p.ndjson');
    expect(source.matters).toMatchObject([
      {
        kind: 'folded',
        expected: { externalId: 'A', title: 't', bizStatus: 'REOPENED', phase: 'OPEN' },
      },
    ]);
    expect(source).toMatchObject({ withoutUpsert: 1, withoutId: 1, leftOut: 3, unnamed: 1 });
    expect([...source.ids].sort()).toEqual(['A', 'B', 'C']);
  });
});

describe('a file of a spreadsheet', () => {
  test('has times without seconds, and numbers of days', async () => {
    const source = await read(
      '单号,更新时间,截止时间\nA,2026/11/25 9:20,2026.11.26\nB,46351.3888888889,\n',
    );
    expect(source).toMatchObject({ leftOut: 0, serials: 1 });
    expect(source.matters).toMatchObject([
      {
        expected: { externalId: 'A', sourceUpdatedAt: Date.UTC(2026, 10, 25, 1, 20) },
        pushed: { deadlineAt: '2026-11-26T00:00:00' },
        precisions: { sourceUpdatedAt: 60_000, deadlineAt: 86_400_000 },
      },
      { expected: { externalId: 'B', sourceUpdatedAt: Date.UTC(2026, 10, 25, 1, 20) } },
    ]);
  });

  const missing = (externalId: string) => ({
    ...{ externalId, kinds: ['MISSING' as const], yours: {}, here: null },
    push: { op: 'upsert' as const, body: { externalId } },
  });

  test('has ids that it changed, and those that look alike: nothing is sent for them', async () => {
    const source = await read('单号\n123\n1.10105E+17\nCH-9   \nNEW\n');
    const rows = source.matters.map(({ expected }) => missing(expected.externalId));
    const doubted = withDoubts(rows, source, ['00123', 'CH-9']);
    expect(
      doubted.map(({ externalId, kinds, here, push }) => [externalId, kinds, here, push]),
    ).toEqual([
      ['123', ['DAMAGED_ID'], { externalId: '00123' }, 'DAMAGED_ID'],
      ['1.10105E+17', ['DAMAGED_ID'], null, 'DAMAGED_ID'],
      ['CH-9   ', ['LOOK_ALIKE'], { externalId: 'CH-9' }, 'LOOK_ALIKE'],
      ['NEW', ['MISSING'], null, missing('NEW').push],
    ]);
    expect(readShare(source, doubted)).toEqual({ unread: 2, total: 4, isComparable: false });
  });

  test('of which more than a tenth cannot be read is not comparable', async () => {
    const ids = Array.from({ length: 18 }, (_, n) => `A-${n},DONE\n`).join('');
    const good = await read(`单号,状态\n${ids}B,\nC,审批中\nD,审批中\n`);
    expect(readShare(good, [])).toEqual({ unread: 2, total: 21, isComparable: true });
    const bad = await read(`单号,状态\n${ids}B,审批中\nC,审批中\nD,审批中\n`);
    expect(readShare(bad, [])).toMatchObject({ unread: 3, isComparable: false });
  });
});

describe('bodies', () => {
  const text = fc.oneof(
    fc.constantFrom('', ' ', 'DONE', 'done', 'A_1', 'https://h/x', 'javascript:x', '{}', 'x\u0000'),
    fc.constantFrom('TODO', 'NOTICE', '\ud800', 'x'.repeat(65), 'x'.repeat(513), ' t ', '\u0085'),
    fc.string(),
  );
  const any = fc.oneof(text, text, fc.constantFrom(null, undefined, true, false, 7, [], {}));
  const stamp = fc.constantFrom(1, '2024-01-01T00:00:00', 'no', null, 4_000_000_000_000, undefined);
  const party = fc.record({ username: text, partyRole: fc.constantFrom('ASSIGNEE', 'CC', 'X') });
  const removal = fc.record(
    { username: text, partyRole: fc.constantFrom('ASSIGNEE', 'CC', 'X', null, '') },
    { requiredKeys: ['username'] },
  );
  const fields = fc.record(
    {
      ...{ matterType: any, externalId: any, title: any, bizStatus: any, externalStatusCode: any },
      ...{ externalStatusLabel: any, summary: any, content: any, pcUrl: any, bizType: any },
      ...{ priority: any, payloadJson: any, initiatorUsername: any, resetAssigneeUnread: any },
      ...{ replaceParties: any, sourceUpdatedAt: stamp, deadlineAt: fc.oneof(any, stamp) },
      parties: fc.oneof(any, fc.array(party, { maxLength: 3 })),
      removeParties: fc.oneof(any, fc.array(removal, { maxLength: 3 })),
    },
    { requiredKeys: [] },
  );
  /** Mostly right, so that some bodies pass. */
  const bodies = fields.chain((odd) =>
    fc.subarray(Object.keys(odd)).map((names) => ({
      ...{ matterType: 'TODO', externalId: 'A', title: 't' },
      ...Object.fromEntries(names.slice(0, 2).map((name) => [name, odd[name as 'title']])),
    })),
  );

  test('are read, and rejected, as the service does it', () => {
    const now = Date.UTC(2026, 0, 1);
    const parsers = createBodyParsers({ timeZone: 'Asia/Shanghai', clock: () => now });
    let passed = 0;
    fc.assert(
      fc.property(fc.constantFrom(...OPERATIONS), fc.oneof(bodies, fields), (op, made) => {
        const body = JSON.parse(JSON.stringify(made));
        const here = parsers[op](body);
        const read = parseBody(op, body, { timeZone: 'Asia/Shanghai', now });
        if (Array.isArray(read)) expect([body, here.success]).toEqual([body, false]);
        else expect(JSON.stringify(sorted(read))).toEqual(JSON.stringify(sorted(here.data)));
        if (here.success) passed += 1;
      }),
      { numRuns: 500 },
    );
    expect(passed).toBeGreaterThan(50);
  });
});

describe('bodies that remove parties', () => {
  const name = fc.constantFrom('li', 'wang', 'sun');
  const partyRole = fc.constantFrom('ASSIGNEE', 'CC');
  const party = fc.record({ username: name, partyRole });
  const removal = fc.record(
    { username: name, partyRole: fc.oneof(partyRole, fc.constant(null)) },
    { requiredKeys: ['username'] },
  );
  const change = fc.record(
    {
      parties: fc.array(party, { maxLength: 2 }),
      replaceParties: fc.boolean(),
      removeParties: fc.array(removal, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  );

  test('are read, and rejected, as the service does it', () => {
    const context = { timeZone: 'Asia/Shanghai', now: 0 };
    const parsers = createBodyParsers({ timeZone: context.timeZone, clock: () => 0 });
    fc.assert(
      fc.property(change, (change) => {
        const body = { matterType: 'TODO', externalId: 'A', title: 't', ...change };
        const here = parsers.upsert(body);
        const read = parseBody('upsert', body, context);
        if (Array.isArray(read)) expect([body, here.success]).toEqual([body, false]);
        else expect(sorted(read)).toEqual(sorted(here.data));
      }),
      { numRuns: 300 },
    );
  });
});

/** Names in one order, and without what JSON leaves out. */
const sorted = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null), (_, it) =>
    it && typeof it === 'object' && !Array.isArray(it)
      ? Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1)))
      : it,
  );
