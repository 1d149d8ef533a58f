/** A list of ids as NDJSON: read in pieces of any size, with every problem told at the end. */
import fc from 'fast-check';
import { createIdLines } from '../../../src/protocol/id-lines';

/** @param size bytes of a piece */
function read(body: string | Uint8Array, { size = 7, maxLines = 1_000 } = {}): string[] {
  const list = createIdLines(maxLines);
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) list.take(bytes.subarray(at, at + size));
  return [...list.end()];
}

const rejection = (...fields: string[]) =>
  expect.objectContaining({
    reason: 'VALIDATION_FAILED',
    errors: fields.map((field) => ({
      field,
      message: expect.any(String),
      english: expect.any(String),
    })),
  });

test.each<[string, string, string[]]>([
  ['nothing', '', []],
  ['strings', '"HD-1"\n"HD-2"\n', ['HD-1', 'HD-2']],
  ['objects', '{"externalId":"HD-1"}\n{"x":{"y":[]},"externalId":"HD-2"}', ['HD-1', 'HD-2']],
  ['a last line without end', '"HD-1"\n"HD-2"', ['HD-1', 'HD-2']],
  ['blank lines', '\n\n"HD-1"\n   \n\t\n"HD-2"\n\n', ['HD-1', 'HD-2']],
  ['lines of Windows', '"HD-1"\r\n{"externalId":"HD-2"}\r\n\r\n', ['HD-1', 'HD-2']],
  ['one id many times', '"HD-1"\n"HD-1"\n{"externalId":"HD-1"}', ['HD-1']],
  [
    'other scripts and escapes',
    '"请假 🚀"\n"\\u8bf7\\n"\n'.replace('\\n"', '"'),
    ['请假 🚀', '请'],
  ],
  ['the longest id', `"${'长'.repeat(128)}"`, ['长'.repeat(128)]],
])('%s', (_, body, ids) => {
  expect(read(body)).toEqual(ids);
});

test.each<[string, string]>([
  ['no JSON', 'HD-1'],
  ['half a line', '{"externalId":'],
  ['two values', '"HD-1" "HD-2"'],
  ['a number', '1'],
  ['null', 'null'],
  ['a list', '["HD-1"]'],
  ['another field', '{"id":"HD-1"}'],
  ['an id of another type', '{"externalId":1}'],
  ['an empty id', '""'],
  ['a blank id', '"  "'],
  ['an id over 128', `"${'x'.repeat(129)}"`],
  ['a control character', '"HD\\n1"'],
  ['half a character', '"\\ud800"'],
  ['a line that does not end', `"${'x'.repeat(100_000)}"`],
])('%s is a problem of its line', (_, line) => {
  expect(() => read(`"HD-1"\n\n${line}\n"HD-2"`, { size: 1_000 })).toThrow(rejection('line 3'));
});

test('a byte order mark at the start is dropped, as other tools write it; elsewhere it is no JSON', () => {
  expect([...read('\ufeff"HD-1"\n"HD-2"')]).toEqual(['HD-1', 'HD-2']);
  expect(() => read('"HD-1"\n\ufeff"HD-2"')).toThrow(rejection('line 2'));
});

test('at most 20 lines are named', () => {
  const body = 'x\n"HD-1"\n'.repeat(30);
  const named = Array.from({ length: 20 }, (_, n) => `line ${2 * n + 1}`);
  expect(() => read(body)).toThrow(rejection(...named));
});

test('too many lines are one problem, whatever else is wrong', () => {
  const line = '"HD-1"\n';
  expect(read(`\n${line.repeat(5)}\n`, { maxLines: 5 })).toEqual(['HD-1']);
  expect(() => read(`x\n${line.repeat(5)}`, { maxLines: 5 })).toThrow(rejection('(body)'));
});

test.each([
  ['a byte that is none', [0x22, 0xff, 0x22]],
  ['a character that does not end', [0x22, 0xe8, 0xaf]],
])('%s: INVALID_ENCODING, before all else', (_, bytes) => {
  const broken = Buffer.concat([Buffer.from('x\n'), Buffer.from(bytes)]);
  const encoding = expect.objectContaining({ reason: 'INVALID_ENCODING' });
  expect(() => read(broken, { size: 1, maxLines: 0 })).toThrow(encoding);
});

test('where the pieces are cut does not matter', () => {
  const id = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
  const line = id.map((value) => JSON.stringify(value));
  const reading = (lines: readonly string[], size: number) => {
    try {
      return read(lines.join('\n'), { size });
    } catch (error) {
      return error;
    }
  };
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 20 }),
      fc.integer({ min: 1, max: 9 }),
      (lines, size) => {
        expect(reading(lines, size)).toEqual(reading(lines, 1_000_000));
      },
    ),
  );
});
