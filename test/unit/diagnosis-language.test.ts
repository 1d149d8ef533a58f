/** A diagnosis reads in Chinese as it does in English. */
import { ALL_CAUSES, toFinding, unexplainedSoFar } from '../../src/signature-diagnosis/causes';
import { inChinese } from '../../src/signature-diagnosis/in-chinese';

const chineseOf = (finding: ReturnType<typeof toFinding>) =>
  inChinese({ findings: [finding], tried: 1, complete: true }).findings[0];

test.each(ALL_CAUSES)('%s', (cause) => {
  const difference = { offset: 1, sent: 'a', signed: 'b' };
  const told = chineseOf(toFinding(cause, undefined, difference));
  expect(told).toMatchObject({ cause, difference });
  expect(told?.explanation).toMatch(/[\u4e00-\u9fff].*。$/);
  expect(told?.fix).toMatch(/[\u4e00-\u9fff]|HMAC-SHA256/);
});

test.each([
  ['SECRET_WHITE_SPACE', 'a line feed after it', '所用密钥带有空白字符：末尾有换行。'],
  ['CLOCK_OFF', '400 s ahead', '调用方时钟不准：快 400 秒。'],
  ['CLOCK_OFF', '400 s behind', '调用方时钟不准：慢 400 秒。'],
  // What is a name stays one.
  ['BODY_CHARSET', 'GBK', '签名时使用了其他字符集：GBK。'],
] as const)('%s, %s', (cause, how, expected) => {
  expect(chineseOf(toFinding(cause, how))?.explanation).toBe(expected);
});

test('a search that was cut off says to ask again', () => {
  expect(chineseOf(unexplainedSoFar())?.fix).toMatch(/^请再次查询/);
});
