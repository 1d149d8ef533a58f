/** The log never holds up its process, whoever reads it. */
import { Writable } from 'node:stream';
import { createLogOutput } from '../../../src/infra/log-output';

/** A reader that takes lines only when it is told to. */
function slowReader() {
  const read: string[] = [];
  let waiting: (() => void) | undefined;
  let isReading = false;
  const stream = new Writable({
    decodeStrings: false,
    write: (line, _encoding, done) => {
      const take = () => {
        if (line !== '') read.push(String(line));
        done();
      };
      if (isReading) take();
      else waiting = take;
    },
  });
  const goOn = () => {
    isReading = true;
    waiting?.();
  };
  return { stream, read, goOn };
}

test('while the reader stands still lines wait, up to a limit; what is beyond it is counted', async () => {
  const { stream, read, goOn } = slowReader();
  const output = createLogOutput(stream, 100);
  for (let n = 0; n < 20; n += 1) output.write(`${'x'.repeat(9)}\n`);
  expect(read).toEqual([]);
  goOn();
  await output.flush(60_000);
  expect(read).toHaveLength(10);
  output.write('next\n');
  await output.flush(60_000);
  expect(JSON.parse(String(read[10]))).toMatchObject({ level: 40, dropped: 10 });
  expect(read[11]).toBe('next\n');
});

test('the end does not wait for a reader that stands still', async () => {
  const output = createLogOutput(slowReader().stream);
  output.write('never read\n');
  await output.flush(10);
});

test('a reader that is gone ends the log, not the process', async () => {
  const stream = new Writable({ write: (_line, _encoding, done) => done(new Error('EPIPE')) });
  const output = createLogOutput(stream);
  for (let n = 0; n < 3; n += 1) {
    output.write('lost\n');
    await new Promise(setImmediate);
  }
  await output.flush(60_000);
});
