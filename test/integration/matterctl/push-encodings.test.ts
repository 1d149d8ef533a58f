/** matterctl push of files that other tools wrote: the words that arrive are those of the file, or nothing is sent. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { markedAsUtf8 } from '../../../tools/matterctl/text-file';
import { matterctl } from '../../support/cli-tool';
import { encode, utf16 } from '../../support/encode';
import { SECRET, useScriptedServer } from '../../support/scripted-server';

const server = useScriptedServer();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'matterctl-'));
  await writeFile(join(folder, 'secret'), SECRET);
});
afterEach(() => rm(folder, { recursive: true }));

const lineOf = (externalId: string, title: string) =>
  `${JSON.stringify({ op: 'upsert', body: { externalId, title } })}\n`;
const PUSHES = lineOf('A', '报销审批') + lineOf('B', '请假申请');
const write = async (name: string, content: Buffer) => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};
const push = (file: string, ...more: string[]) =>
  matterctl([
    ...['push', file, '--client-id', 'oa', '--secret-file', join(folder, 'secret')],
    ...['--url', server.url, '--json', ...more],
  ]);
const titles = () => server.received.map(({ text: body }) => JSON.parse(body).title);

test.each<[string, Buffer, string[]]>([
  ['UTF-8 with a mark', Buffer.from(`\ufeff${PUSHES}`), []],
  ['UTF-16 of PowerShell', utf16(PUSHES.replaceAll('\n', '\r\n')), []],
  ['UTF-16BE', utf16(PUSHES).swap16(), []],
  ['GBK', encode(PUSHES, 'gbk'), []],
  ['UTF-16 without a mark, named', Buffer.from(PUSHES, 'utf16le'), ['--encoding', 'utf-16le']],
  [
    'Big5, named',
    encode(lineOf('A', '報銷') + lineOf('B', '請假'), 'big5'),
    ['--encoding', 'big5'],
  ],
])('%s', async (name, content, more) => {
  const { exitCode, stdout } = await push(await write('in.ndjson', content), ...more);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ lines: 2, ok: 2 });
  expect(titles().sort()).toEqual(
    (name.startsWith('Big5') ? ['報銷', '請假'] : ['报销审批', '请假申请']).sort(),
  );
  expect(server.received.every(({ isSigned }) => isSigned)).toBe(true);
});

test.each<[string, Buffer, string[], RegExp]>([
  [
    'Big5',
    encode(lineOf('A', '報銷單已審核'), 'big5'),
    [],
    /in\.ndjson:1: read as GBK .*give --encoding/,
  ],
  ['UTF-16 without a mark', Buffer.from(PUSHES, 'utf16le'), [], /give --encoding utf-16le/],
  [
    'a wrong name',
    encode(PUSHES, 'gbk'),
    ['--encoding', 'utf-8'],
    /in\.ndjson:1: this is not UTF-8/,
  ],
])('nothing is sent of a doubtful file: %s', async (_name, content, more, message) => {
  const { exitCode, stdout, stderr } = await push(await write('in.ndjson', content), ...more);
  expect(exitCode).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(message);
  expect(server.received).toHaveLength(0);
});

test('a line that is no UTF-8 in a file that is UTF-8 otherwise fails alone', async () => {
  const bad = Buffer.concat([
    Buffer.from('{"op":"upsert","body":{"title":"'),
    Buffer.of(0xe6, 0x22),
  ]);
  const content = Buffer.concat([Buffer.from(PUSHES), bad, Buffer.from('}}\n')]);
  const { stdout } = await push(await write('in.ndjson', content));
  expect(JSON.parse(stdout)).toMatchObject({ ok: 2, failures: { MALFORMED_LINE: 1 } });
});

test('a secret in UTF-16 is the same secret', async () => {
  await writeFile(join(folder, 'secret'), utf16(`${SECRET}\r\n`));
  await push(await write('in.ndjson', Buffer.from(PUSHES)));
  expect(server.received.every(({ isSigned }) => isSigned)).toBe(true);
  expect(server.received).toHaveLength(2);
});

describe('standard input', () => {
  const read = (chunks: Buffer[], given?: string) =>
    text(markedAsUtf8(Readable.from(chunks), given));
  const inBytes = (bytes: Buffer) => [...bytes].map((byte) => Buffer.of(byte));

  test('is read by its mark, however it comes', async () => {
    expect(await read(inBytes(utf16(PUSHES)))).toBe(PUSHES);
    expect(await read(inBytes(Buffer.from(PUSHES)))).toBe(PUSHES);
    expect(await read([encode(PUSHES, 'gbk')], 'gbk')).toBe(PUSHES);
    expect(await read([Buffer.from('x')])).toBe('x');
    expect(await read([])).toBe('');
  });

  test('whose bytes are not of the encoding that is named ends with an error', async () => {
    await expect(read([Buffer.of(0x61, 0xff, 0xff)], 'utf-16be')).rejects.toThrow();
  });
});

test('what fails is written as UTF-8', async () => {
  const content = utf16(`${PUSHES}{"op":"upsert","body":"报销"}\n`);
  const file = await write('in.ndjson', content);
  await push(file);
  expect(readFileSync(`${file}.failed.ndjson`, 'utf8')).toContain('报销');
});
