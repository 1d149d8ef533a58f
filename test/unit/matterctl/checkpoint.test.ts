import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  type Checkpoint,
  fileFingerprint,
  loadCheckpoint,
  saveCheckpoint,
} from '../../../tools/matterctl/push/checkpoint';
import { DoneLines } from '../../../tools/matterctl/push/run-state';
import { PushTally } from '../../../tools/matterctl/push/tally';

const CHECKPOINT: Checkpoint = {
  version: 1,
  runId: 'run',
  input: { size: 10, sha256: 'ab' },
  clientId: 'erp',
  url: 'http://portal',
  doneThrough: 3,
  doneAbove: [[5, 7]],
  failuresSize: 0,
  counts: new PushTally().counts(),
};

let folder: string;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'matterctl-'));
  path = join(folder, 'checkpoint');
});
afterAll(() => rm(folder, { recursive: true }));

describe('done lines', () => {
  test('any lines in any order survive being saved and loaded', () => {
    const property = fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 })), (lines) => {
      const done = new DoneLines();
      for (const line of lines) done.add(line);
      const again = new DoneLines(done.through, done.above());
      for (let line = 1; line <= 61; line += 1) {
        expect(done.has(line)).toBe(lines.includes(line));
        expect(again.has(line)).toBe(lines.includes(line));
      }
      expect(lines.includes(again.through + 1)).toBe(false);
    });
    fc.assert(property);
  });
});

describe('a checkpoint', () => {
  test('is loaded as it was saved, and leaves no other file', async () => {
    await saveCheckpoint(path, CHECKPOINT);
    await expect(loadCheckpoint(path, CHECKPOINT)).resolves.toEqual(CHECKPOINT);
    expect(await readdir(folder)).toEqual(['checkpoint']);
  });

  test('that is not there is none', async () => {
    await expect(loadCheckpoint(join(folder, 'none'), CHECKPOINT)).resolves.toBeUndefined();
  });

  test.each([
    ['an input that changed', { input: { size: 10, sha256: 'cd' } }, 'the input file has changed'],
    ['another client', { clientId: 'crm' }, 'it is of the client erp'],
    ['another service', { url: 'http://other' }, 'it is of the service at http://portal'],
  ])('is not used for %s', async (_name, change, message) => {
    await saveCheckpoint(path, CHECKPOINT);
    await expect(loadCheckpoint(path, { ...CHECKPOINT, ...change })).rejects.toThrow(message);
  });

  test.each(['', '{', '{"version":1}', '[]'])(
    'that reads %j is rejected, not guessed',
    async (text) => {
      await writeFile(path, text);
      await expect(loadCheckpoint(path, CHECKPOINT)).rejects.toThrow(
        'it cannot be read; --restart',
      );
    },
  );
});

describe('the fingerprint of an input', () => {
  test.each([
    ['', 0],
    ['a1\n', 1],
    ['a1', 1],
    ['a1\r\n\r\n\nb1\r\n', 2],
  ])('counts the lines of %j that hold something', async (text, lines) => {
    const file = join(folder, 'input');
    await writeFile(file, text);
    const print = await fileFingerprint(file);
    expect(print).toMatchObject({ lines, size: text.length });
  });
});
