/** The three forms of a file to reconcile: what is read from them, and everything that is bad. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { ExpectedMatter } from '../../../src/queries/reconcile/expected';
import { openSource } from '../../../tools/matterctl/reconcile/open-source';
import { createSettings } from '../../../tools/matterctl/settings';
import { aRef } from '../../support/builders';
import { encode, utf16 } from '../../support/encode';

const folder = mkdtempSync(join(tmpdir(), 'reconcile-'));
afterAll(() => rmSync(folder, { recursive: true }));

const lines = (...all: unknown[]) =>
  all.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

async function read(
  name: string,
  content: string | Buffer,
  reading: Partial<Parameters<typeof openSource>[1]> = {},
) {
  const file = join(folder, name);
  writeFileSync(file, content);
  const stderr = new PassThrough();
  const said = text(stderr);
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const tool = { settings: createSettings({}, '/'), stdin, stdout, stderr };
  try {
    const source = await openSource(file, { systemCode: 'OA', ...reading }, tool);
    const expectedMatters: ExpectedMatter[] = [];
    for await (const expectedMatter of source.expectedMatters())
      expectedMatters.push(expectedMatter);
    stderr.end();
    return { source, expectedMatters, problems: told(await said), message: '' };
  } catch (error) {
    stderr.end();
    const message = (error as Error).message.replaceAll(`${file}:`, '');
    return { source: undefined, expectedMatters: [], problems: told(await said), message };
  }

  function told(text: string): string[] {
    return text.replaceAll(`${file}:`, '').trimEnd().split('\n');
  }
}
const rows = async (name: string, content: string | Buffer) =>
  (await read(name, content)).expectedMatters.map((expectedMatter) =>
    expectedMatter.kind === 'row'
      ? { ...expectedMatter.expected, ...expectedMatter.pushed }
      : undefined,
  );

/** 2024-06-01 08:00 in Shanghai. */
const INSTANT = 1_717_200_000_000;

describe('CSV', () => {
  const HEAD = 'externalId,bizStatus,externalStatusCode,sourceUpdatedAt,deleted,title,deadlineAt';

  test('an empty cell says nothing; times have all forms; booleans are those of a spreadsheet', async () => {
    const content = `\ufeff${HEAD}\r\nA-1,DONE,,2024-06-01 08:00:00,FALSE,报销,2026-01-31T18:00\r\n,,,,,,\r\nA-2,,X,1717200000,true,,\r\nA-3\r\n`;
    expect(await rows('a.csv', content)).toEqual([
      {
        externalId: 'A-1',
        bizStatus: 'DONE',
        sourceUpdatedAt: INSTANT,
        deleted: false,
        title: '报销',
        deadlineAt: '2026-01-31T18:00',
      },
      { externalId: 'A-2', externalStatusCode: 'X', sourceUpdatedAt: INSTANT, deleted: true },
      { externalId: 'A-3' },
    ]);
  });

  test('GBK, and a file that is cut within a character', async () => {
    const name = [0xc0, 0xee, 0xc0, 0xd7];
    const filler = Array.from({ length: 20_000 }, (_, index) =>
      Buffer.from([...Buffer.from(`B-${index},`), ...name, 10]),
    );
    const content = Buffer.concat([Buffer.from('externalId,title\n'), ...filler]);
    const found = await rows('gbk.txt', content);
    expect(found).toHaveLength(20_000);
    expect(new Set(found.map((row) => row && 'title' in row && row.title))).toEqual(
      new Set(['李雷']),
    );
  });

  test.each<[string, Buffer, string | undefined]>([
    ['UTF-16 of PowerShell', utf16('externalId,title\r\nA-1,报销\r\n'), undefined],
    ['a tab between cells', Buffer.from('externalId\ttitle\nA-1\t报销\n'), undefined],
    [
      'a semicolon, as a sep= line says',
      Buffer.from('sep=;\r\nExternalID;TITLE\r\nA-1;报销\r\n'),
      undefined,
    ],
    ['Chinese headings in GBK', encode('单据号,标题\nA-1,报销\n', 'gbk'), undefined],
    ['an encoding that is named', encode('externalId,title\nA-1,报销\n', 'gbk'), 'gbk'],
  ])('%s', async (_, content, encoding) => {
    const { expectedMatters } = await read('tool.csv', content, { encoding });
    expect(expectedMatters).toEqual([
      { kind: 'row', expected: { externalId: 'A-1' }, pushed: { title: '报销' } },
    ]);
  });

  test('times of spreadsheets, with what they leave open; numbers of days are counted', async () => {
    const content = `${HEAD}\nA-1,,,2024/6/1 8:00,,,2024.6.1\nA-2,,,45444.3333333333,,,45445\nA-3,,,20240601080000,,,\n`;
    const { expectedMatters, source } = await read('sheet.csv', content);
    const deadline = INSTANT - 8 * 3_600_000;
    expect(expectedMatters).toMatchObject([
      {
        expected: { externalId: 'A-1', sourceUpdatedAt: INSTANT },
        pushed: { deadlineAt: '2024-06-01T00:00:00' },
        ...{
          deadlineAt: deadline,
          precisions: { sourceUpdatedAt: 60_000, deadlineAt: 86_400_000 },
        },
      },
      {
        expected: { externalId: 'A-2', sourceUpdatedAt: INSTANT },
        pushed: { deadlineAt: '2024-06-02T00:00:00' },
      },
      { expected: { externalId: 'A-3', sourceUpdatedAt: INSTANT } },
    ]);
    expect(source?.serials).toBe(2);
  });

  test('a day without separators is no time', async () => {
    const { problems } = await read('day.csv', `${HEAD}\nA-1,,,20240601,,,\nA-2,,,,,,\n`);
    expect(problems[0]).toMatch(/^2: sourceUpdatedAt is no time/);
  });

  test('an id is taken with its blanks; a column of logins is that of assignees', async () => {
    const content = 'id,处理人\nCH-9   ,li.lei；han.mei\n"CH-8",\n';
    const { expectedMatters, source } = await read('ids.csv', content, {
      columns: [['assignee', '处理人']],
    });
    expect(expectedMatters).toMatchObject([
      { expected: { externalId: 'CH-9   ' }, assignees: ['li.lei', 'han.mei'] },
      { expected: { externalId: 'CH-8' } },
    ]);
    expect(source?.names('CH-9')).toBe(false);
    expect(source?.columns).toEqual([
      { name: 'id', field: 'externalId' },
      { name: '处理人', field: 'assignee' },
    ]);
  });

  test('parties are a JSON list', async () => {
    const content =
      'externalId,replaceParties,parties\nA-1,true,"[{""username"":""a"",""partyRole"":""CC""}]"\n';
    expect(await rows('p.csv', content)).toEqual([
      { externalId: 'A-1', replaceParties: true, parties: [aRef('a', 'CC')] },
    ]);
  });

  test('parties to remove are a JSON list', async () => {
    const content = 'id,移除参与人\nA-1,"[{""username"":""li""}]"\nA-2,li\n';
    const { expectedMatters, problems } = await read('r.csv', content);
    expect(expectedMatters).toMatchObject([{ pushed: { removeParties: [{ username: 'li' }] } }]);
    expect(problems[0]).toBe('3: removeParties must be a JSON list');
  });

  test('columns that nobody knows are named', async () => {
    const { source } = await read('u.csv', 'externalId,colour,,size\nA-1,red,x,\n');
    expect(source?.unknownFields).toEqual(['colour', 'size']);
  });

  test('every bad row is told with its line and left out; the others are read', async () => {
    const content = `${HEAD}\n,DONE,,,,,\nA-1,done,,yesterday,maybe,,\nA-2,DONE,,,,,,,more\nA-3\nA-3\n`;
    const { problems, expectedMatters, source } = await read('bad.csv', content);
    expect(problems).toEqual([
      '2: externalId is missing',
      '3: bizStatus must be upper snake case such as IN_REVIEW, at most 64 characters',
      '3: sourceUpdatedAt is no time such as 2024-06-01 08:00:00, 2024/6/1 8:00 or 1717200000',
      '3: deleted must be true or false',
      '4: 9 cells under 7 columns',
      '6: A-3 stands on line 5 too',
      '4 bad lines are left out, the others are compared.',
    ]);
    expect(expectedMatters.map(({ expected }) => expected.externalId)).toEqual(['A-3']);
    expect(source).toMatchObject({ size: 1, leftOut: 4, leftOutUnnamed: 2 });
    expect([...(source?.ids() ?? [])]).toEqual(['A-3', 'A-1']);
    expect(source?.names('A-1')).toBe(true);
  });

  test.each<[string, string | Buffer, string]>([
    [
      'no header',
      'A-1,DONE\n',
      '1: the header has no column externalId; the columns are: A-1, DONE',
    ],
    ['a column twice', 'externalId,title,title\n', '1: the header has the column title twice'],
    ['an open quote', 'externalId,title\nA-1,"open\n', '2: a quote is not closed'],
    ['neither encoding', Buffer.from([0x61, 0xff, 0xff]), '1: this is neither UTF-8 nor GBK'],
    [
      'one byte that is no UTF-8',
      Buffer.concat([Buffer.from('externalId,title\nA-1,报销\nA-2,出'), Buffer.of(0xe5, 10)]),
      '3: this is not UTF-8, but the file is UTF-8 otherwise',
    ],
    [
      'Big5',
      encode('externalId,title\nA-1,報銷單已審\n', 'big5'),
      'which looks wrong: give --encoding',
    ],
    [
      'a mark of UTF-8, and other bytes',
      Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xc0, 0xee]),
      '1: this is not UTF-8',
    ],
  ])('nothing can be compared: %s', async (_, content, problem) => {
    const { message } = await read('head.csv', content);
    expect(message).toContain('nothing was compared: ');
    expect(message).toContain(problem);
  });

  test('nothing can be compared: a column that is named and not there', async () => {
    const { message } = await read('head.csv', 'externalId,name\nA-1,x\n', {
      columns: [['title', '主题']],
    });
    expect(message).toContain('there is no column 主题; the columns are: externalId, name');
  });

  test('twenty are shown, the others counted', async () => {
    const { problems } = await read('many.csv', `externalId\n${'A\n'.repeat(31)}`);
    expect(problems).toHaveLength(22);
    expect(problems.at(-2)).toBe('… and 10 more');
  });
});

describe('NDJSON of fields', () => {
  test('null says nothing, but of a code that there is none', async () => {
    const content = lines(
      { externalId: 'A-1', bizStatus: null, sourceUpdatedAt: '2024-06-01T00:00:00Z', title: null },
      '',
      { externalId: 'A-2', externalStatusCode: null, deleted: null, bizStatus: '' },
    );
    expect(await rows('rows', content)).toEqual([
      { externalId: 'A-1', sourceUpdatedAt: INSTANT, title: null },
      { externalId: 'A-2', externalStatusCode: null },
    ]);
  });

  test('every bad line is told', async () => {
    const content = lines('{"externalId":', [], { externalId: 7 }, { bizStatus: 'DONE' });
    const { problems } = await read('rows.ndjson', content);
    expect(problems).toEqual([
      expect.stringMatching(/^1: not JSON: /),
      '2: not a JSON object',
      '3: externalId must be a text of 1 to 128 characters on one line',
      '4: externalId is missing',
    ]);
  });

  test('in UTF-16, and in GBK', async () => {
    const content = lines({ externalId: 'A-1', title: '报销' });
    for (const bytes of [utf16(content), encode(content, 'gbk')]) {
      expect(await rows('rows.ndjson', bytes)).toEqual([{ externalId: 'A-1', title: '报销' }]);
    }
  });

  test('an empty file is no list', async () => {
    expect((await read('empty.ndjson', '\n')).message).toContain('states nothing');
  });
});

describe('NDJSON of pushes', () => {
  const push = (op: string, body: object, key?: string) => ({ op, body, key });
  const upsert = (externalId: string | undefined, more: object = {}) =>
    push('upsert', { matterType: 'NOTICE', externalId, title: 't', ...more });
  const matters = async (...all: unknown[]) =>
    Object.fromEntries(
      (await read('pushes.ndjson', lines(...all))).expectedMatters.map(({ expected }) => [
        expected.externalId,
        expected,
      ]),
    );

  test('are folded as the service folds them: merged, stale, deleted, revived', async () => {
    const found = await matters(
      upsert('A', { sourceUpdatedAt: 1_717_200_000, summary: 's', parties: [aRef('a')] }),
      push('status', { externalId: 'A', bizStatus: 'DONE', sourceUpdatedAt: 1_717_200_060 }),
      upsert('A', { title: 'stale', sourceUpdatedAt: 1_717_200_059 }),
      push('status', { externalId: 'A', externalStatusCode: 'X', sourceUpdatedAt: 1_717_200_060 }),
      upsert('B'),
      push('delete', { externalId: 'B' }),
      push('status', { externalId: 'B', bizStatus: 'DONE' }),
      upsert('C'),
      push('delete', { externalId: 'C' }),
      upsert('C', { title: 'again' }),
    );
    expect(found).toMatchObject({
      A: {
        title: 't',
        summary: 's',
        bizStatus: 'DONE',
        externalStatusCode: 'X',
        sourceUpdatedAt: INSTANT + 60_000,
        parties: [aRef('a')],
      },
      B: { deleted: true, bizStatus: 'PENDING' },
      C: { deleted: false, title: 'again' },
    });
  });

  test('in UTF-16 and in GBK they are the same pushes', async () => {
    const content = lines(upsert('A', { title: '报销' }));
    for (const bytes of [utf16(content), encode(content, 'gbk')]) {
      const { expectedMatters } = await read('pushes', bytes);
      expect(expectedMatters).toMatchObject([{ expected: { externalId: 'A', title: '报销' } }]);
    }
  });

  test('a failure file is one, by its first line', async () => {
    const told = { line: 1, code: null, reason: 'MALFORMED_LINE', message: '', requestId: null };
    const { expectedMatters } = await read(
      'failed.txt',
      lines({ text: JSON.stringify(upsert('A-1')), ...told }),
    );
    expect(expectedMatters).toMatchObject([{ kind: 'folded', expected: { externalId: 'A-1' } }]);
  });

  test('one that repeats a key with the same body does not undo what came after it', async () => {
    const found = await matters(
      upsert('A'),
      push('status', { externalId: 'A', bizStatus: 'DONE' }, 'k'),
      push('status', { externalId: 'A', bizStatus: 'REOPENED' }, 'k'),
      push('status', { externalId: 'A', bizStatus: 'DONE' }, 'k'),
    );
    expect(found).toMatchObject({ A: { bizStatus: 'REOPENED' } });
  });

  test('without an upsert, or without an id, there is nothing to compare', async () => {
    const { source, expectedMatters } = await read(
      'some.txt',
      lines(
        upsert('A'),
        push('status', { externalId: 'B', bizStatus: 'DONE' }),
        push('status', { externalId: 'B', bizStatus: 'DONE' }),
        push('delete', { externalId: 'C' }),
        upsert(undefined),
      ),
    );
    expect(expectedMatters).toHaveLength(1);
    expect(source).toMatchObject({ size: 1, withoutUpsert: 2, withoutId: 1 });
    expect(['A', 'B', 'D'].map((id) => source?.names(id))).toEqual([true, true, false]);
  });

  test('every bad line is told', async () => {
    const { problems } = await read(
      'bad.ndjson',
      lines(
        { op: 'status', body: {} },
        upsert('A', { sourceUpdatedAt: 'yesterday', title: '' }),
        push('merge', {}),
        '{"op":',
      ),
    );
    expect(problems).toEqual([
      '1: the service rejects such a push: externalId',
      '2: the service rejects such a push: title, sourceUpdatedAt',
      '3: op must be one of upsert, status, reopen, delete',
      expect.stringMatching(/^4: not JSON/),
    ]);
  });
});
