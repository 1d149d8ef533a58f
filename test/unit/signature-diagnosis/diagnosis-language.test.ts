/** A diagnosis reads in Chinese as it does in English. */
import { bodyVariants } from '../../../src/signature-diagnosis/body-variants';
import { ALL_CAUSES, toFinding, unexplainedSoFar } from '../../../src/signature-diagnosis/causes';
import { OTHER_ALGORITHMS, OTHER_FORMS } from '../../../src/signature-diagnosis/digests';
import { inChinese } from '../../../src/signature-diagnosis/in-chinese';
import { WRITERS } from '../../../src/signature-diagnosis/json-writers';
import { keyVariants } from '../../../src/signature-diagnosis/keys';
import { signingTexts } from '../../../src/signature-diagnosis/signing-texts';
import { timeVariants } from '../../../src/signature-diagnosis/timestamps';
import type { StoredSecret } from '../../../src/storage/directory';
import { NOW } from '../../support/builders';

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
  ['SIGNATURE_LENGTH', 'it has 12 characters', '签名不是 64 个字符：实际 12 个字符。'],
  [
    'SIGNATURE_LENGTH',
    'it is as long as MD5 in hex',
    '签名不是 64 个字符：长度与十六进制形式的 MD5 相同。',
  ],
  // What is a name stays one.
  ['BODY_CHARSET', 'GBK', '签名时使用了其他字符集：GBK。'],
] as const)('%s, %s', (cause, how, expected) => {
  expect(chineseOf(toFinding(cause, how))?.explanation).toBe(expected);
});

test('each detail of a mistake has a Chinese text without English words', () => {
  const prose =
    /\b(an?|or|with|without|of|by|the|and|does|at|only|another|as|blanks|tabs|it|was|raw|earlier|later)\b/;
  const stored: StoredSecret[] = [
    { id: 'k1', secret: Buffer.from('a secret of a client').toString('base64') },
    { id: 'k2', secret: 'abcdef0123456789', endsAt: 1 },
    { id: 'k3', secret: 'of a query key', isQueryKey: true, endsAt: 1 },
  ];
  const body = Buffer.from('{"b":"中 a/é","a":1.50,"c":[1,{"x":null}],"t":"<&>"}');
  const mistakes = [
    ...WRITERS,
    ...OTHER_ALGORITHMS,
    ...OTHER_FORMS,
    ...keyVariants('oa', stored, NOW),
    ...timeVariants('1700000000'),
    ...timeVariants('1700000000000'),
    ...signingTexts('oa'),
    ...[...bodyVariants(body)].flatMap((variant) => variant ?? []),
  ];
  const told = mistakes.flatMap(({ cause, how }) =>
    cause && how ? [chineseOf(toFinding(cause, how))?.explanation ?? ''] : [],
  );
  expect(told.length).toBeGreaterThan(500);
  expect(told.filter((text) => prose.test(text))).toEqual([]);
  for (const id of ['k2', 'k3']) expect(told.join('\n')).toContain(`密钥 ${id}`);
});

test.each([
  ['BODY_PRETTY', 'indented by 2 blanks, as Python does', '：缩进 2 个空格，与 Python 相同。'],
  ['NOT_HMAC', 'sha256, the secret before the text', '：sha256，密钥在签名串之前。'],
  ['SIGNATURE_PREFIXED', 'sha256=; the signature is in base64', '：sha256=；签名为 base64。'],
] as const)('%s, %s: a name and a phrase', (cause, how, end) => {
  expect(chineseOf(toFinding(cause, how))?.explanation).toMatch(new RegExp(`${end}$`));
});

test('a search that was cut off says to ask again', () => {
  expect(chineseOf(unexplainedSoFar(true))?.fix).toMatch(/^请再次查询/);
});
