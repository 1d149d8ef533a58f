/** A list of users as spreadsheets save it, in whatever form. */
import { openText } from '../../../tools/matterctl/text-file';
import { readUsersCsv } from '../../../tools/matterctl/users-csv';
import { encode, utf16 } from '../../support/encode';

const csv = (...lines: string[]) => Buffer.from(lines.join('\r\n'));
const LI_LEI = { username: 'li.lei', displayName: '李雷' };

/** @param columns as given by the user */
async function read(bytes: Uint8Array, columns: Parameters<typeof readUsersCsv>[1] = []) {
  const text = await openText(async function* () {
    yield bytes;
  });
  if (text.problem) throw new Error(`${text.problem.why} in line ${text.problem.line}`);
  return { ...(await readUsersCsv(text.pieces(), columns)), encoding: text.encoding };
}

describe('user lists are read as spreadsheets save them', () => {
  test('UTF-8, with a BOM, blank lines and spaces around cells', async () => {
    const bytes = csv('\ufeffusername,displayName', '', ' li.lei , 李雷 ', ' , ', '');
    expect(await read(bytes)).toEqual({ users: [LI_LEI], problems: [], encoding: 'utf-8' });
  });

  test('GBK, with the columns in another order and one more', async () => {
    const bytes = encode('displayName,dept,username\n李雷,x,li.lei\n', 'gbk');
    expect(await read(bytes)).toEqual({ users: [LI_LEI], problems: [], encoding: 'gb18030' });
  });

  test('UTF-16 with tabs, and names in another case', async () => {
    const bytes = utf16('UserName\tDISPLAYNAME\r\nli.lei\t李雷\r\n');
    expect(await read(bytes)).toEqual({ users: [LI_LEI], problems: [], encoding: 'utf-16le' });
  });

  test('with Chinese headings and semicolons, and as the user says', async () => {
    expect(await read(csv('登录名;姓名;部门', 'li.lei;李雷;x'))).toMatchObject({ users: [LI_LEI] });
    const named = await read(csv('工号,员工', 'li.lei,李雷'), [
      ['username', '工号'],
      ['displayName', '员工'],
    ]);
    expect(named).toMatchObject({ users: [LI_LEI] });
  });

  test('quoted cells with commas', async () => {
    const { users } = await read(csv('username,displayName', 'a,"Lei, Li"'));
    expect(users).toEqual([{ username: 'a', displayName: 'Lei, Li' }]);
  });

  test('a user who stands there twice with one name is one user', async () => {
    const { users } = await read(csv('username,displayName', 'li.lei,李雷', 'li.lei,李雷'));
    expect(users).toEqual([LI_LEI]);
  });
});

describe('every bad line is named with its number', () => {
  test('all of them at once', async () => {
    const { problems } = await read(
      csv(
        'username,displayName',
        'a,A',
        'b',
        '',
        'c,',
        `${'d'.repeat(65)},D`,
        `e,${'E'.repeat(64)}`,
        'f,F\u0007G',
        'a,Other',
      ),
    );
    expect(problems).toEqual([
      { line: 3, message: 'the column displayName is missing' },
      { line: 5, message: 'displayName is empty' },
      { line: 6, message: 'username is longer than 64 characters' },
      { line: 8, message: 'displayName holds a control character' },
      { line: 9, message: 'a has another name on line 2' },
    ]);
  });

  test.each([
    [
      'no header',
      csv('li.lei,李雷'),
      'the header has no column username and displayName; the columns are: li.lei, 李雷',
    ],
    [
      'nothing at all',
      Buffer.alloc(0),
      'the header has no column username and displayName; the columns are: none',
    ],
    ['an open quote', csv('username,displayName', '"a,b'), 'a quote is not closed'],
  ])('%s', async (_name, bytes, message) => {
    const { users, problems } = await read(bytes);
    expect(users).toEqual([]);
    expect(problems[0]?.message).toContain(message);
  });
});
