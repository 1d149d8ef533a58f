import { Readable } from 'node:stream';
import fc from 'fast-check';
import { badLine } from '../../src/cli/push/failure-file';
import { type BadLine, parsePushLine } from '../../src/cli/push/push-line';
import { readLines } from '../../src/cli/read-lines';

const parse = (text: string | Buffer, number = 1) =>
  parsePushLine({ number, bytes: Buffer.from(text) });

describe('lines of a stream', () => {
  test('are the same however the stream is cut', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', '李', ' ', '\r') });
    const property = fc.asyncProperty(
      fc.array(line),
      fc.integer({ min: 1, max: 7 }),
      async (lines, size) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        const read: string[] = [];
        for await (const { number, bytes: found } of readLines(Readable.from(chunks))) {
          expect(number).toBe(read.length + 1);
          read.push(String(found));
        }
        expect(read).toEqual(lines);
      },
    );
    await fc.assert(property);
  });

  test('one that is too long is not held, and the next one is read', async () => {
    const chunks = ['aa', 'aaaa\nb', 'b\ncccccc'].map((text) => Buffer.from(text));
    const read: (string | undefined)[] = [];
    for await (const { bytes } of readLines(Readable.from(chunks), 4)) read.push(bytes?.toString());
    expect(read).toEqual([undefined, 'bb', undefined]);
  });
});

describe('a line of a push file', () => {
  test('is sent as it stands there: unknown fields, their order, Chinese', () => {
    const body = '{"z":1,"externalId":"K-1","标题":"é😀","a":null}';
    const line = parse(`{"op":"upsert","key":"k 1","body":${body}}\r`);
    expect(line).toMatchObject({ op: 'upsert', key: 'k 1', externalId: 'K-1' });
    expect(line && 'body' in line && line.body.toString()).toBe(body);
  });

  test.each(['', '  ', '\r'])('%j is blank', (text) => {
    expect(parse(text)).toBeUndefined();
  });

  test.each([
    ['{"op":"merge","body":{}}', 'UNKNOWN_OPERATION', 'op must be one of upsert, status'],
    ['{"body":{}}', 'UNKNOWN_OPERATION', 'op must be one of'],
    ['{"op":"status"}', 'MALFORMED_LINE', 'body must be an object'],
    ['{"op":"status","body":[]}', 'MALFORMED_LINE', 'body must be an object'],
    ['{"op":"status","body":{},"key":"é"}', 'MALFORMED_LINE', 'key must be'],
    ['{"op":"status","body":{}', 'MALFORMED_LINE', 'not JSON'],
    ['7', 'MALFORMED_LINE', ''],
    [Buffer.from([0x22, 0xff, 0x22]), 'MALFORMED_LINE', ''],
  ])('%s is reported', (text, reason, message) => {
    const bad = parse(text, 9) as BadLine;
    expect(bad).toMatchObject({ number: 9, reason, message: expect.stringContaining(message) });
    expect(badLine(bad)).toMatchObject({ line: 9, reason });
  });

  test('nested too deeply to be written again is reported too', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(parse(`{"op":"status","body":{"a":${deep}}}`)).toMatchObject({
      reason: 'MALFORMED_LINE',
    });
  });
});
