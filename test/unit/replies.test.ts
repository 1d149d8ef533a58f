import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { createRedisKeys } from '../../src/queue/keys';
import { createReplyInbox } from '../../src/queue/replies';

/** The subscription alone: what the inbox does with a message needs no server. */
class Subscriber extends EventEmitter {
  subscribe = () => Promise.resolve(1);
}

async function openInbox() {
  const subscriber = new Subscriber();
  const keys = createRedisKeys('test');
  const logger = pino({ enabled: false });
  const inbox = await createReplyInbox<string>(subscriber as unknown as Redis, keys, 'me', logger);
  const receive = (payload: unknown) =>
    subscriber.emit('message', keys.replies('me'), JSON.stringify(payload));
  return { inbox, receive };
}

const ids = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => `p${from + n}`);

it('lets others have their turn between the answers of one large message', async () => {
  const { inbox, receive } = await openInbox();
  const told: string[] = [];
  for (const id of ids(0, 60)) void inbox.wait(id, 5_000).then((said) => told.push(String(said)));
  receive(ids(0, 60).map((id) => [id, `for ${id}`]));
  await nextTurn();
  expect(told.length).toBeGreaterThan(0);
  expect(told.length).toBeLessThan(60);
  while (inbox.size > 0) await nextTurn();
  expect(told).toEqual(ids(0, 60).map((id) => `for ${id}`));
});

it('tells in the order of the messages, whatever arrives while it tells', async () => {
  const { inbox, receive } = await openInbox();
  const told: string[] = [];
  for (const id of ids(0, 90)) void inbox.wait(id, 5_000).then(() => told.push(id));
  receive(ids(0, 40).map((id) => [id, '']));
  receive(ids(40, 40).map((id) => [id, '']));
  while (inbox.size > 10) await nextTurn();
  receive(ids(80, 10).map((id) => [id, '']));
  while (inbox.size > 0) await nextTurn();
  expect(told).toEqual(ids(0, 90));
});

it('goes on after a message that nobody can read', async () => {
  const { inbox, receive } = await openInbox();
  const waiting = inbox.wait('p0', 5_000);
  receive(7);
  receive([['nobody', 'done'], 7]);
  receive([['p0', 'done']]);
  expect(await waiting).toBe('done');
});
