/** A stream that keeps what is written to it. */
import { Writable } from 'node:stream';

export function sink() {
  let text = '';
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}
