/** Which encoding a file is taken for: a wrong guess is worse than a question. */
import { detectEncoding } from '../../../src/files/encodings';
import { encode, utf16 } from '../../support/encode';

/** In pieces that end within characters, too. */
const inPieces = (bytes: Uint8Array, size = 7) => {
  return async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
};
const detect = (bytes: Uint8Array, given?: string) => detectEncoding(inPieces(bytes), given);

const USERS = 'username,displayName\nzhang.san,张三\nli.si,李四\nwang.wu,王五\n';
const TRADITIONAL = 'username,displayName\nzhang,張三豐\nli,李四端\nwang,王小明\n';
const JAPANESE = 'username,displayName\nsato,佐藤さくら\nsuzuki,鈴木イチロー\n';

test.each<[string, Buffer, string]>([
  ['ASCII', Buffer.from('a,b\n1,2\n'), 'utf-8'],
  ['nothing', Buffer.from(''), 'utf-8'],
  ['UTF-8', Buffer.from(USERS), 'utf-8'],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${USERS}`), 'utf-8'],
  ['UTF-8 beyond the first plane', Buffer.from('a,𠮷野家 🚀\n'), 'utf-8'],
  ['UTF-8 with a replacement character', Buffer.from('a,?\ufffd\n'), 'utf-8'],
  ['GBK', encode(USERS, 'gbk'), 'gb18030'],
  ['one name in GBK', encode('u,n\nx,张三\n', 'gbk'), 'gb18030'],
  ['GBK with a rare name among others', encode(`${USERS}x,李喆\ny,陈珺\n`, 'gbk'), 'gb18030'],
  [
    'GBK with signs and full-width letters',
    encode('单号，（标题）：ＡＢＣ“审批”\n', 'gbk'),
    'gb18030',
  ],
  ['UTF-16 with a mark', utf16(USERS), 'utf-16le'],
  ['UTF-16BE with a mark', utf16(USERS).swap16(), 'utf-16be'],
])('%s', async (_, bytes, encoding) => {
  expect(await detect(bytes)).toEqual({ encoding });
});

test.each<[string, Buffer, object]>([
  [
    'UTF-8 with one byte that was changed',
    Buffer.from(
      Buffer.from(USERS).map((byte, at, all) => (at === all.indexOf('李') ? 0x3f : byte)),
    ),
    { why: 'mostly-utf-8', line: 3 },
  ],
  [
    'UTF-8 that lacks a byte',
    Buffer.concat([Buffer.from(USERS).subarray(0, -2), Buffer.from('\n')]),
    { why: 'mostly-utf-8', line: 4 },
  ],
  ['Big5', encode(TRADITIONAL, 'big5'), { why: 'doubtful', line: 2 }],
  ['Shift_JIS', encode(JAPANESE, 'shift_jis'), { why: 'doubtful', line: 2 }],
  ['UTF-16 without a mark', Buffer.from(USERS, 'utf16le'), { why: 'unmarked', line: 1 }],
  ['neither', Buffer.from([0x61, 10, 0xff, 0xff]), { why: 'unknown', line: 2 }],
  [
    'a mark of UTF-8, and other bytes',
    Buffer.concat([Buffer.from('\ufeffa\n'), encode('李雷', 'gbk')]),
    { why: 'damaged', line: 2, encoding: 'utf-8' },
  ],
  [
    'a mark of UTF-16, and half a character',
    Buffer.concat([utf16('a\nb'), Buffer.of(0x00, 0xd8, 0x61, 0x00)]),
    { why: 'damaged', line: 2, encoding: 'utf-16le' },
  ],
])('%s is doubted, with the line', async (_, bytes, problem) => {
  expect(await detect(bytes)).toMatchObject({ problem });
});

/** One to three names, in encodings other than GBK. */
test.each<[string, string]>([
  ['big5', '王小明'],
  ['big5', '陳大文'],
  ['big5', '林志玲'],
  ['big5', '張惠妹'],
  ['big5', '採購合同'],
  ['big5', '台灣'],
  ['big5', '黃美玲;李國華'],
  ['big5', '吳宗憲'],
  ['big5', '報銷單'],
  ['shift_jis', '山田'],
  ['shift_jis', '田中太郎'],
  ['shift_jis', '高橋;渡辺'],
  ['shift_jis', '休暇申請'],
  ['windows-1252', 'Müller'],
  ['windows-1252', 'Müller;Jürgen'],
  ['windows-1252', 'François'],
  ['windows-1252', 'Größe'],
  ['windows-1252', 'Händel;Böll'],
  ['windows-1252', 'crème brûlée'],
  ['windows-1251', 'Иванов'],
  ['windows-1251', 'Смирнова'],
])('a small file in %s is doubted, with the line: %s', async (encoding, text) => {
  const bytes = encode(`u,n\nx,${text}\n`, encoding);
  expect(await detect(bytes)).toMatchObject({ problem: { why: 'doubtful', line: 2 } });
});

test.each([
  '赵鑫',
  '欧阳昊',
  '章子怡',
  '孙婧;徐楠',
  '冯骥，丁晗',
  '姓名;芮琦',
  '张三;朱镕基',
  '采购合同',
])('a small file in GBK is read, with characters of the second level too: %s', async (text) => {
  expect(await detect(encode(`u,n\nx,${text}\n`, 'gbk'))).toEqual({ encoding: 'gb18030' });
});

test('a name in GBK that is mostly rare characters is asked about', async () => {
  const bytes = encode('u,n\nx,芮琦\n', 'gbk');
  expect(await detect(bytes)).toMatchObject({ problem: { sample: 'x,芮琦', line: 2 } });
});

test.each<[string, string]>([
  ['euc-kr', '김철수;이영희'],
  ['euc-jp', '田中太郎'],
])(
  '%s cannot be told from GBK: every byte pair is an everyday Chinese character',
  async (encoding, text) => {
    const bytes = encode(text, encoding);
    expect(await detect(bytes)).toEqual({ encoding: 'gb18030' });
  },
);

test('what looks wrong is shown as it would read', async () => {
  const { problem } = await detect(encode(TRADITIONAL, 'big5'));
  expect(problem?.sample).toMatch(/^zhang,/);
  expect(problem?.sample).not.toContain('張三豐');
});

test.each([
  ['big5', TRADITIONAL],
  ['shift_jis', JAPANESE],
  ['gbk', TRADITIONAL],
])('the user has the last word: %s', async (encoding, text) => {
  expect(await detect(encode(text, encoding), encoding)).toEqual({ encoding });
});

test('and is told where that is wrong', async () => {
  expect(await detect(encode(JAPANESE, 'shift_jis'), 'utf-8')).toMatchObject({
    problem: { why: 'damaged', line: 2, encoding: 'utf-8' },
  });
});
