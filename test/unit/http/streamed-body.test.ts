/** A body that is taken in pieces: others have their turn, however fast it comes and however long each piece takes. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { receiveBody } from '../../../src/http/streamed-body';
import { countTurns } from '../../support/turns';

const PIECES = 40;

/** A request of which all pieces are there already. */
function requestOf(pieces: number): IncomingMessage {
  const stream = new Readable({ read: () => undefined, highWaterMark: PIECES * 2 });
  for (let n = 0; n < pieces; n += 1) stream.push(Buffer.from([n]));
  stream.push(null);
  return stream as IncomingMessage;
}

const work = (milliseconds: number) => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

test('pieces that take long to read leave others their turn, and all of them arrive in their order', async () => {
  const endCount = countTurns();
  const taken: number[] = [];
  const onChunk = (piece: Uint8Array) => {
    taken.push(...piece);
    work(3);
  };
  await receiveBody(requestOf(PIECES), { limit: PIECES, timeout: 60_000, onChunk });
  const turns = endCount();
  expect(taken).toEqual(Array.from({ length: PIECES }, (_, n) => n));
  // 120 ms of work in slices of 10.
  expect(turns).toBeGreaterThan(5);
});

test('what a piece is rejected for ends the body', async () => {
  const onChunk = () => {
    throw new Error('no');
  };
  const received = receiveBody(requestOf(3), { limit: 3, timeout: 60_000, onChunk });
  await expect(received).rejects.toThrow('no');
});
