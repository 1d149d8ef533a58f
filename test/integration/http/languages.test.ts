/** English for who asks for it; the contract's Chinese, word for word, for everybody else. */
import type { PushOptions } from '../../support/pusher';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service.stop());

const ENGLISH = { headers: { 'Accept-Language': 'en-GB,en;q=0.9' } };
const CHINESE_LETTERS = /[\u4e00-\u9fff]/;
const WRONG = {
  matterType: 'TASK',
  externalId: 'L',
  pcUrl: 'javascript:1',
  bizStatus: 'done',
  deadlineAt: 'tomorrow',
  sourceUpdatedAt: 'yesterday',
  parties: [{ username: 'alice' }, { username: 1, partyRole: 'CC' }],
};
const pushWrong = (more?: Partial<PushOptions>) => service.push('upsert', WRONG, more);

test('errors are English where that is asked for, and Chinese where nothing is', async () => {
  const english = await pushWrong(ENGLISH);
  const chinese = await pushWrong();
  expect(english.message).toBe('the request is not valid');
  expect(chinese.message).toBe('请求参数校验失败');
  expect(english.errors?.map(({ field }) => field)).toEqual(
    chinese.errors?.map(({ field }) => field),
  );
  for (const { message } of english.errors ?? []) expect(message).not.toMatch(CHINESE_LETTERS);
  for (const { message } of chinese.errors ?? []) expect(message).toMatch(CHINESE_LETTERS);
  expect(english.headers).toMatchObject({ 'content-language': 'en', vary: 'Accept-Language' });
  expect(chinese.headers).toMatchObject({ 'content-language': 'zh-CN', vary: 'Accept-Language' });
});

test('what is missing is called required, and a form lists the forms that are accepted', async () => {
  const of = async (more?: Partial<PushOptions>) =>
    Object.fromEntries((await pushWrong(more)).errors?.map((it) => [it.field, it.message]) ?? []);
  expect(await of(ENGLISH)).toMatchObject({
    title: 'is required',
    'parties[0].partyRole': expect.stringMatching(/^is required; .*ASSIGNEE.*RECIPIENT/),
    sourceUpdatedAt: expect.stringMatching(/epoch seconds or milliseconds.*\+08:00.*yyyy-MM-dd HH/),
    deadlineAt: expect.stringContaining('yyyy-MM-ddTHH:mm'),
    pcUrl: expect.stringContaining('https://'),
  });
  expect(await of()).toMatchObject({
    title: '必填',
    'parties[0].partyRole': expect.stringMatching(/^必填；.*ASSIGNEE/),
    sourceUpdatedAt: expect.stringMatching(/时间戳.*\+08:00.*yyyy-MM-dd HH/),
  });
});

test('the contract is in Chinese word for word, and has its English', async () => {
  const unsigned = { headers: { 'X-Signature': undefined } };
  expect(await pushWrong(unsigned)).toMatchObject({ code: 401, message: '缺少 HMAC 鉴权头' });
  const { headers } = ENGLISH;
  expect(await pushWrong({ headers: { ...unsigned.headers, ...headers } })).toMatchObject({
    code: 401,
    message: 'HMAC authentication headers are missing',
  });
  const none = { externalId: 'NONE' };
  expect((await service.push('delete', none)).message).toBe('事项不存在: TEST/NONE');
  expect((await service.push('delete', none, ENGLISH)).message).toBe(
    'the matter does not exist: TEST/NONE',
  );
});

test('warnings too, of a push, of a dry run, and of the log whatever its sender read', async () => {
  const body = { matterType: 'TODO', externalId: 'W', title: 't', partys: [], bizStatus: 'ODD' };
  const { requestId, data } = await service.push('upsert', body);
  expect(data.warnings).toHaveLength(3);
  for (const it of data.warnings ?? []) expect(it).not.toHaveProperty('english');
  expect(data.warnings).toMatchObject([
    { message: '未知字段，已忽略；是否应为 parties？' },
    {},
    {},
  ]);
  const path = '/api/open/push-logs/query';
  const logged = async (more?: Partial<PushOptions>) => {
    const answer = await service.push('', { requestId }, { path, ...more });
    return (answer.data as unknown as { entries: { warnings: object[] }[] }).entries[0]?.warnings;
  };
  expect(await logged()).toEqual(data.warnings);
  const english = (await service.push('upsert', body, ENGLISH)).data.warnings;
  expect(await logged(ENGLISH)).toEqual(english);
  expect(JSON.stringify(english)).not.toMatch(CHINESE_LETTERS);
  expect(english).toMatchObject([
    { message: 'unknown field, ignored; did you mean parties?' },
    {},
    { kind: 'NO_ASSIGNEE' },
  ]);
  const push = { operation: 'upsert', push: body };
  const dry = await service.push('', push, { path: '/api/open/verify', ...ENGLISH });
  expect(dry.data.warnings).toEqual(english?.slice(0, 2));
});

test('problems in the log are read in the language of who reads them', async () => {
  const { requestId, errors } = await pushWrong();
  const answer = await service.push(
    '',
    { requestId },
    { path: '/api/open/push-logs/query', ...ENGLISH },
  );
  const { entries } = answer.data as unknown as { entries: { problems: object[] }[] };
  expect(entries[0]?.problems).toHaveLength(errors?.length ?? 0);
  expect(JSON.stringify(entries)).not.toMatch(CHINESE_LETTERS);
});
