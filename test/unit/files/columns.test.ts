/** Which column is which field: guessed by its name, or as the user says. */
import { fieldsOf } from '../../../src/files/cells';
import {
  guessMapping,
  isHeaderRow,
  MATTER_COLUMNS,
  mapColumns,
  missingColumns,
  USER_COLUMNS,
} from '../../../src/files/columns';

test('names are compared without case, blanks and signs, in both languages', () => {
  expect(guessMapping(['EXTERNALID', 'External_Status Code', '标题', '截止时间*', '部门'])).toEqual(
    ['externalId', 'externalStatusCode', 'title', 'deadlineAt', undefined],
  );
  expect(guessMapping(['登录名', '姓名'], USER_COLUMNS)).toEqual(['username', 'displayName']);
});

test('names of other things are no field, whatever they are', () => {
  expect(guessMapping(['单号', '状态', '状态码', '业务类型', '类型', '是否删除'])).toEqual([
    ...['externalId', 'bizStatus', 'externalStatusCode', 'bizType', undefined, 'deleted'],
  ]);
  expect(guessMapping(['__proto__', 'constructor', ''])).toEqual([undefined, undefined, undefined]);
  expect(isHeaderRow(['PR-1', 'DONE', '2026-01-01 08:00:00'])).toBe(false);
  expect(isHeaderRow(['PR-1', 'status'])).toBe(true);
});

test('a field has one column: that whose name fits best', () => {
  expect(guessMapping(['编号', 'externalId', '单据号'])).toEqual([
    undefined,
    'externalId',
    undefined,
  ]);
});

test('what mostly holds names of people is not taken for logins', () => {
  expect(guessMapping(['处理人', '发起人', '处理人登录名'])).toEqual([
    undefined,
    undefined,
    'assignee',
  ]);
});

test('the user goes before what is guessed', () => {
  const head = ['编号', '单据号', '名称', '处理人'];
  expect(
    mapColumns(head, MATTER_COLUMNS, [
      ['externalId', '单据号'],
      ['ignore', '名称'],
      ['assignee', '处理人'],
    ]),
  ).toEqual({ mapping: [undefined, 'externalId', undefined, 'assignee'] });
});

test('a column that is not there, or there twice, is told', () => {
  const columns = mapColumns(['id', '标题'], MATTER_COLUMNS, [['title', '主题']]);
  expect(columns.problem).toBe('there is no column 主题; the columns are: id, 标题');
  expect(mapColumns(['id', '标题', '标题'], MATTER_COLUMNS).problem).toBe(
    'the header has the column 标题 twice',
  );
  expect(mapColumns(['id', '备注', '备注'], MATTER_COLUMNS).problem).toBeUndefined();
});

test('what is missing is told with what is there', () => {
  const head = ['login', '', '部门'];
  expect(missingColumns(head, guessMapping(head, USER_COLUMNS), ['username', 'displayName'])).toBe(
    'the header has no column displayName; the columns are: login, 部门',
  );
  expect(isHeaderRow(['A-1', 'DONE'])).toBe(false);
});

describe('the cells of a record', () => {
  const mapping = ['externalId', 'deleted', 'assignee', 'title', undefined];

  test('an id keeps its blanks, flags and logins are read, an empty cell says nothing', () => {
    const untrimmed = new Map([
      [0, 'CH-9  '],
      [3, ' t '],
    ]);
    const record = {
      cells: ['CH-9', '是', 'li.lei、han mei；li.lei', 't', 'x'],
      line: 2,
      untrimmed,
    };
    expect(fieldsOf(record, mapping)).toEqual({
      ...{ externalId: 'CH-9  ', deleted: true, assignee: ['li.lei', 'han mei'], title: 't' },
    });
    expect(fieldsOf({ cells: ['A', '', '', ''], line: 3 }, mapping)).toEqual({ externalId: 'A' });
  });

  test('what a field cannot be stays, to be told; cells beyond the columns are no record', () => {
    expect(fieldsOf({ cells: ['A', 'maybe'], line: 2 }, mapping)).toMatchObject({
      deleted: 'maybe',
    });
    expect(fieldsOf({ cells: ['A', '', '', '', '', 'more'], line: 2 }, mapping)).toBeUndefined();
  });
});
