/** matterctl reconcile with files of spreadsheets and other tools, on a ledger that a service wrote. */
import { existsSync, readFileSync } from 'node:fs';
import { matterctl } from '../../support/cli-tool';
import { encode, utf16 } from '../../support/encode';
import { useReconcileRig } from '../../support/reconcile-rig';

const { compare, matters, push, run, service, signer, write } = useReconcileRig();
const todo = (externalId: string, more: object = {}) => ({
  matterType: 'TODO',
  externalId,
  title: `title of ${externalId}`,
  // 09:20:42.5 in Shanghai: more than a spreadsheet shows.
  sourceUpdatedAt: '2026-11-25T01:20:42.500Z',
  parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
  ...more,
});
const upsert = async (body: object) =>
  expect(await service().push('upsert', body)).toMatchObject({ code: 0 });
/** Every difference as `id KIND repush`, and the summary. */
const reconcile = async (file: string, ...more: string[]) => {
  const { lines, ...rest } = await compare(file, ...more);
  const found = lines.map((it) => `${it.externalId} ${it.difference} ${it.repush}`);
  return { ...rest, lines, found };
};
const repushed = (file: string) =>
  readFileSync(`${file}.repush.ndjson`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('a natural export', () => {
  const HEAD = '单据号,标题,业务类型,状态,更新时间,处理人,部门';
  const NATURAL = ['--column', 'assignee=处理人', '--default', 'matterType=TODO'];

  test('with times as a spreadsheet writes them is compared, and creates what is missing', async () => {
    await upsert(todo('A-1'));
    await upsert(todo('A-2', { bizType: '费用' }));
    const rows = [
      'A-1,title of A-1,,PENDING,2026/11/25 9:20,alice,x',
      'A-2,another title,差旅,DONE,2026/11/25 9:20,bob,x',
      'A-3,新的报销,费用,PENDING,2026/11/25 9:21,alice；bob,x',
    ];
    const file = write('natural.csv', encode(`${HEAD}\r\n${rows.join('\r\n')}\r\n`, 'gbk'));
    const before = await reconcile(file, ...NATURAL);
    expect(before).toMatchObject({
      exitCode: 1,
      found: ['A-2 STATUS_DIFFERS upsert', 'A-2 CONTENT_DIFFERS upsert', 'A-3 MISSING upsert'],
      summary: { compared: 3, equal: 1, leftOut: 0, comparable: true, wouldFail: 0 },
    });
    expect(before.lines[1]).toMatchObject({
      yours: { title: 'another title', bizType: '差旅', parties: ['ASSIGNEE bob'] },
      here: { title: 'title of A-2', bizType: '费用', parties: ['ASSIGNEE alice'] },
    });
    expect(before.stderr).toContain(
      'Compared: externalId (单据号), title (标题), bizType (业务类型), bizStatus (状态), sourceUpdatedAt (更新时间), assignee (处理人)\n',
    );
    expect(before.stderr).toContain('Unknown fields, ignored: 部门\n');
    await push(`${file}.repush.ndjson`);
    expect(await reconcile(file, ...NATURAL)).toMatchObject({ exitCode: 0, found: [] });
    const made = await matters().findOne({ externalId: 'A-3' });
    expect(made).toMatchObject({ title: '新的报销', bizType: '费用', matterType: 'TODO' });
    expect(made?.parties.map(({ username }: { username: string }) => username)).toEqual([
      ...['alice', 'bob'],
    ]);
  });

  test('without a type says what it needs; other columns than the guessed ones may be named', async () => {
    const file = write('untyped.csv', '编号,单据号,主题\n1,B-1,t\n');
    const { found, stderr } = await reconcile(file, '--column', 'externalId=单据号');
    expect(found).toEqual(['B-1 MISSING NEEDS_CONTENT']);
    expect(stderr).toContain('Compared: externalId (单据号), title (主题)\n');
    expect((await run(file, '--column', 'externalId=单据号')).stdout).toContain(
      '--default matterType=TODO',
    );
  });

  test.each([
    [['--column', 'number=单据号'], 'the field is one of externalId, '],
    [['--column', 'externalId'], 'It must be field=name'],
    [['--default', 'title=x'], 'It must be matterType=TODO'],
    [['--encoding', 'klingon'], 'It must be an encoding such as'],
  ])('%j is wrong usage', async (more, message) => {
    const { exitCode, stderr } = await run(write('u.csv', 'externalId\nA\n'), ...more);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });

  test('as a client asks, it is compared as an operator does it', async () => {
    await upsert(todo('A-1', { deadlineAt: '2026-11-30T18:00:00' }));
    const file = write('client.csv', 'id;title;deadline\nA-1;title of A-1;2026/11/30 18:00\n');
    expect(await matterctl(['reconcile', file, ...signer()])).toMatchObject({ exitCode: 0 });
    const other = write(
      'client.csv',
      'id;title;deadline\nA-1;title of A-1;2026/11/30 18:01\nA-2;t;\n',
    );
    const { exitCode, stdout } = await matterctl(['reconcile', other, ...signer()]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^A-1 +CONTENT_DIFFERS +2026-11-30 18:01:00 → 2026-11-30 18:00:00/m);
  });
});

test('a file of which more than a tenth cannot be read is not comparable, whatever the rest says', async () => {
  await upsert(todo('A-1'));
  const bad = Array.from({ length: 20 }, (_, n) => `B-${n},25.11.2026 9 Uhr\n`).join('');
  const file = write('times.csv', `externalId,sourceUpdatedAt\nA-1,2026/11/25 9:20\n${bad}`);
  const { exitCode, stdout, stderr } = await run(file);
  expect(exitCode).toBe(2);
  expect(stdout).toMatch(/^NOT COMPARABLE: 20 of 21 lines of the file cannot be read\n/);
  expect(stderr).toContain('matterctl: NOT COMPARABLE: 20 of 21 lines');
  const { summary } = await reconcile(file);
  expect(summary).toMatchObject({ comparable: false, compared: 1, equal: 1, leftOut: 20 });
});

describe('ids that a spreadsheet has changed', () => {
  const OWN = ['00123', '110105198001011234', '110105198001019999', 'A-1'];

  test('are listed, never pushed, and it is said how to export them', async () => {
    for (const id of OWN) await upsert(todo(id));
    const csv =
      'externalId,matterType,title\n1.10105E+17,TODO,t\n123,TODO,t\n110105198001011000,TODO,t\n110105198001019990,TODO,t\nA-1,TODO,title of A-1\nNEW,TODO,t\n';
    const file = write('damaged.csv', csv);
    const { exitCode, found, lines, summary, stderr } = await reconcile(file);
    expect(found).toEqual([
      '1.10105E+17 DAMAGED_ID DAMAGED_ID',
      '123 DAMAGED_ID DAMAGED_ID',
      '110105198001011000 DAMAGED_ID DAMAGED_ID',
      '110105198001019990 DAMAGED_ID DAMAGED_ID',
      'NEW MISSING upsert',
    ]);
    expect(lines[1].here).toEqual({ externalId: '00123' });
    expect(repushed(file).map(({ body }) => body.externalId)).toEqual(['NEW']);
    expect(summary).toMatchObject({ notRepushed: { DAMAGED_ID: 4 }, comparable: false });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Export the column of ids as text');
  });

  test('also as a client asks', async () => {
    await upsert(todo('00123'));
    const file = write('damaged-too.csv', 'externalId,matterType,title\n123,TODO,t\n');
    const { stdout } = await matterctl(['reconcile', file, ...signer()]);
    expect(stdout).toMatch(/^123 +DAMAGED_ID +123 → 00123 +DAMAGED_ID$/m);
    expect(existsSync(`${file}.repush.ndjson`)).toBe(false);
  });
});

describe('ids that look alike', () => {
  test('are compared exactly: a padded column is the same, a trimmed one is told', async () => {
    expect(
      await service().push('upsert', todo('CH-9     ', { title: 'Spare part' })),
    ).toMatchObject({
      code: 0,
      data: {
        warnings: [{ field: 'externalId', kind: 'LOOK_ALIKE_ID', message: expect.any(String) }],
      },
    });
    await upsert(todo('IDEO\u3000'));
    const padded = write('padded.csv', 'externalId,title\nCH-9     ,Spare part\n');
    expect(await reconcile(padded)).toMatchObject({ exitCode: 0, found: [] });
    const trimmed = write('trimmed.csv', 'externalId,matterType,title\nCH-9,TODO,t\nIDEO,TODO,t\n');
    const { found, lines } = await reconcile(trimmed);
    expect(found).toEqual(['CH-9 LOOK_ALIKE LOOK_ALIKE', 'IDEO LOOK_ALIKE LOOK_ALIKE']);
    expect(lines[0].here).toEqual({ externalId: 'CH-9     ' });
    expect(existsSync(`${trimmed}.repush.ndjson`)).toBe(false);
  });

  test('a push says where the character is, in both languages', async () => {
    const { data } = await service().push('upsert', todo('X\u200b-1'));
    const message = expect.stringContaining('第 2 个字符（U+200B）');
    expect(data.warnings).toMatchObject([{ kind: 'LOOK_ALIKE_ID', message }]);
    const english = { headers: { 'Accept-Language': 'en' } };
    const status = await service().push(
      'status',
      { externalId: 'X\u200b-1', bizStatus: 'DONE' },
      english,
    );
    expect(status.data.warnings).toMatchObject([
      { message: expect.stringContaining('character 2 (U+200B)') },
    ]);
  });
});

test('files of PowerShell and lists in GBK are read; a doubtful one is asked about', async () => {
  await upsert(todo('A-1', { title: '报销' }));
  const csv = 'externalId,title\nA-1,报销\n';
  const pushes = `${JSON.stringify({ op: 'upsert', body: todo('A-1', { title: '报销' }) })}\n`;
  for (const [name, content] of Object.entries({
    'utf16.csv': utf16(csv),
    'tabs.txt': utf16(csv.replaceAll(',', '\t')),
    'gbk.ndjson': encode(pushes, 'gbk'),
    'utf16.ndjson': utf16(pushes),
  })) {
    expect([name, await reconcile(write(name, content))]).toMatchObject([name, { exitCode: 0 }]);
  }
  const big5 = write('big5.csv', encode('externalId,title\nA-1,報銷單已審\n', 'big5'));
  const { exitCode, stderr } = await run(big5);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/big5\.csv:2: read as GBK this is "A-1,.*give --encoding/);
  expect((await reconcile(big5, '--encoding', 'big5')).found).toEqual([
    'A-1 CONTENT_DIFFERS upsert',
  ]);
});
