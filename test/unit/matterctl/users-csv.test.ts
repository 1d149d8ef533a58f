import { readUsersCsv } from '../../../tools/matterctl/users-csv';

const csv = (...lines: string[]) => Buffer.from(lines.join('\r\n'));
const LI_LEI = { username: 'li.lei', displayName: '李雷' };

describe('user lists are read as spreadsheets save them', () => {
  test('UTF-8, with a BOM, blank lines and spaces around cells', () => {
    const bytes = csv('\ufeffusername,displayName', '', ' li.lei , 李雷 ', ' , ', '');
    expect(readUsersCsv(bytes)).toEqual({ users: [LI_LEI], problems: [], encoding: 'UTF-8' });
  });

  test('GBK, with the columns in another order and one more', () => {
    const name = [0xc0, 0xee, 0xc0, 0xd7];
    const bytes = Buffer.concat([
      Buffer.from('displayName,dept,username\n'),
      Buffer.from(name),
      Buffer.from(',x,li.lei\n'),
    ]);
    expect(readUsersCsv(bytes)).toEqual({ users: [LI_LEI], problems: [], encoding: 'GB18030' });
  });

  test('marked as UTF-8 it is never read as GBK', () => {
    const bytes = Buffer.concat([
      csv('\ufeffusername,displayName', 'li.lei,'),
      Buffer.from([0xc0, 0xee]),
    ]);
    expect(readUsersCsv(bytes)).toMatchObject({
      ...{ users: [], problems: [{ message: expect.stringContaining('neither UTF-8 nor GBK') }] },
    });
  });

  test('quoted cells with commas', () => {
    const { users } = readUsersCsv(csv('username,displayName', 'a,"Lei, Li"'));
    expect(users).toEqual([{ username: 'a', displayName: 'Lei, Li' }]);
  });

  test('a user who stands there twice with one name is one user', () => {
    const { users } = readUsersCsv(csv('username,displayName', 'li.lei,李雷', 'li.lei,李雷'));
    expect(users).toEqual([LI_LEI]);
  });
});

describe('every bad line is named with its number', () => {
  test('all of them at once', () => {
    const { problems } = readUsersCsv(
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
    ['no header', csv('li.lei,李雷'), 'the header has no column username and displayName'],
    ['nothing at all', Buffer.alloc(0), 'the header has no column username and displayName'],
    ['neither encoding', Buffer.from([0xff, 0xfe, 0x61, 0x00]), 'the file is neither'],
    ['an open quote', csv('username,displayName', '"a,b'), 'Quote Not Closed'],
  ])('%s', (_name, bytes, message) => {
    const { users, problems } = readUsersCsv(bytes);
    expect(users).toEqual([]);
    expect(problems[0]?.message).toContain(message);
  });
});
