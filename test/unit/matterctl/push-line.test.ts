import { Readable } from 'node:stream';
import fc from 'fast-check';
import { readBatchLines, readLine } from '../../../src/protocol/batch-lines';
import { PushError } from '../../../src/protocol/errors';
import { failureFileOf } from '../../../tools/matterctl/commands/push';
import { type BadLine, badLine, parsePushLine } from '../../../tools/matterctl/push/push-line';
import { readTextLines } from '../../../tools/matterctl/streams';
import { resultOf } from '../../support/steps';

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
        for await (const { number, bytes: found } of readTextLines(Readable.from(chunks))) {
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
    for await (const { bytes } of readTextLines(Readable.from(chunks), 4))
      read.push(bytes?.toString());
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

  const blanks = fc.constantFrom(...' \t\r\v\f\u00a0\u2028\u3000\ufeff');
  const line = fc.constantFrom('', '{"op":"delete","body":{"externalId":"A"}}');
  const texts = fc
    .tuple(fc.string({ unit: blanks, maxLength: 3 }), line)
    .chain(([before, text]) =>
      fc.string({ unit: blanks, maxLength: 3 }).map((after) => before + text + after),
    );

  test('is blank, or can be read, where it is in a batch', () => {
    const ofService = (text: string, number: number) => {
      const limits = { lines: 10, bodyBytes: 1_000 };
      const whole = Buffer.from(`${number === 1 ? '' : '{}\n'}${text}\n{}`);
      const found = resultOf(readBatchLines(whole, limits)).find((raw) => raw.number === number);
      if (!found) return 'blank';
      return readLine(found, limits) instanceof PushError ? 'bad' : 'read';
    };
    const ofFile = (text: string, number: number) => {
      const found = parse(text, number);
      if (!found) return 'blank';
      return 'reason' in found ? 'bad' : 'read';
    };
    fc.assert(
      fc.property(texts, fc.constantFrom(1, 2), (text, number) => {
        expect(ofFile(text, number)).toBe(ofService(text, number));
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['{"op":"merge","body":{}}', 'UNKNOWN_OPERATION', 'op must be one of upsert, status'],
    ['{"body":{}}', 'UNKNOWN_OPERATION', 'op must be one of'],
    ['{"op":"status"}', 'MALFORMED_LINE', 'body must be an object'],
    ['{"op":"status","body":[]}', 'MALFORMED_LINE', 'body must be an object'],
    ['{"op":"status","body":{},"key":"é"}', 'MALFORMED_LINE', 'key must be'],
    ['{"op":"status","body":{},"key":" k"}', 'MALFORMED_LINE', 'without a blank at either end'],
    ['{"op":"status","body":{},"key":"k "}', 'MALFORMED_LINE', 'without a blank at either end'],
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

describe('a line of a failure file', () => {
  const PUSH = '{"op":"status","body":{"externalId":"K-1"}}';
  const keptOf = (text: string | Buffer) => badLine(parse(text) as BadLine);
  /** What is pushed of it, or why not. */
  const again = (kept: object) => {
    const line = parse(JSON.stringify(kept));
    return line && 'body' in line ? line.body.toString() : line?.message;
  };

  test('that was no JSON is mended in its text, whatever its length', () => {
    const long = `{"op":"status","body":{"externalId":"K-1","title":"${'事'.repeat(5_000)}"}`;
    const kept = keptOf(long);
    expect(kept).toMatchObject({ text: long, reason: 'MALFORMED_LINE' });
    expect(again({ ...kept, text: `${long}}` })).toContain('事'.repeat(5_000));
    expect(again({ ...kept, text: PUSH })).toBe('{"externalId":"K-1"}');
  });

  test('may hold the push as JSON in its text, or be replaced by it', () => {
    const kept = keptOf('{oops');
    expect(again({ ...kept, text: JSON.parse(PUSH) })).toBe('{"externalId":"K-1"}');
    expect(again({ ...kept, ...JSON.parse(PUSH) })).toBe('{"externalId":"K-1"}');
    expect(again(JSON.parse(PUSH))).toBe('{"externalId":"K-1"}');
  });

  test('that is still wrong is kept as the same text, not as a text in a text', () => {
    const once = keptOf('{oops');
    expect(keptOf(JSON.stringify(once))).toEqual(once);
    const better = keptOf(JSON.stringify({ ...once, text: '{"op":"merge","body":{}}' }));
    expect(better).toMatchObject({ op: 'merge', body: {}, reason: 'UNKNOWN_OPERATION' });
  });

  test('whose bytes were no UTF-8 is never pushed with other words', () => {
    const bytes = Buffer.from('{"op":"status","body":{"externalId":"\xc9\xf3"}}', 'latin1');
    const kept = keptOf(bytes);
    expect(kept).toHaveProperty('text');
    expect(again(kept)).toContain('U+FFFD');
    expect(keptOf(JSON.stringify(kept))).toHaveProperty('text');
  });

  test('that is nested too deeply is kept as its text', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const text = `{"op":"status","body":{"a":${deep}}}`;
    expect(JSON.stringify(keptOf(text))).toContain('"text":');
  });

  test.each([
    ['a.ndjson', 'a.ndjson.failed.ndjson'],
    ['/x/a.ndjson.failed.ndjson', '/x/a.ndjson.failed.2.ndjson'],
    ['a.ndjson.failed.2.ndjson', 'a.ndjson.failed.3.ndjson'],
    ['a.failed.9.ndjson', 'a.failed.10.ndjson'],
    ['.failed.ndjson', '.failed.ndjson.failed.ndjson'],
  ])('what fails of %s goes to %s', (file, next) => {
    expect(failureFileOf(file)).toBe(next);
  });
});
