/** Bodies that are still coming in are bounded, in number and in bytes: the oldest makes room. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { createUploads } from '../../../src/http/body';

function begin(uploads: ReturnType<typeof createUploads>) {
  const req = new IncomingMessage(new Socket());
  return { req, upload: uploads.begin(req), isCut: () => req.socket.destroyed };
}

test('one too many: the oldest is cut off, and none that ended', () => {
  const uploads = createUploads({ max: 3, bytes: 1_000 });
  const all = Array.from({ length: 3 }, () => begin(uploads));
  all[0]?.upload.end();
  all.push(begin(uploads));
  expect(all.some(({ isCut }) => isCut())).toBe(false);
  all.push(begin(uploads), begin(uploads));
  expect(all.map(({ isCut }) => isCut())).toEqual([false, true, true, false, false, false]);
});

test('too many bytes: the oldest are cut off until they fit', () => {
  const uploads = createUploads({ max: 10, bytes: 1_000 });
  const all = Array.from({ length: 4 }, () => begin(uploads));
  for (const { upload } of all) upload.received(250);
  expect(all.some(({ isCut }) => isCut())).toBe(false);
  all[3]?.upload.received(300);
  expect(all.map(({ isCut }) => isCut())).toEqual([true, true, false, false]);
});

test('bytes of what ended or was cut off do not count, also where more come', () => {
  const uploads = createUploads({ max: 2, bytes: 1_000 });
  const [cut, ended, first] = [begin(uploads), begin(uploads), begin(uploads)];
  ended.upload.received(900);
  ended.upload.end();
  ended.upload.end();
  for (const { upload } of [cut, ended]) upload.received(5_000);
  first.upload.received(1_000);
  expect([cut, ended, first].map(({ isCut }) => isCut())).toEqual([true, false, false]);
});

test('one alone is cut off too where it is too much', () => {
  const only = begin(createUploads({ max: 2, bytes: 1_000 }));
  only.upload.received(1_001);
  expect(only.isCut()).toBe(true);
});

test('what has come in whole, and waits to be read, is left alone, and so is a newcomer', () => {
  const uploads = createUploads({ max: 1, bytes: 1_000 });
  const whole = begin(uploads);
  whole.req.complete = true;
  const next = begin(uploads);
  expect([whole, next].map(({ isCut }) => isCut())).toEqual([false, false]);
});
