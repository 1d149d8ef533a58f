import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import type { RedisConnection } from '../../../src/infra/redis/connect';
import { NO_METRICS } from '../../../src/observability/metrics';
import { createRedisKeys } from '../../../src/queue/keys';
import { createReplyInbox, toMessages } from '../../../src/queue/replies';

/** Milliseconds, so many that no stall of the machine ends a wait. */
const LONG = 240_000;

/** The subscription alone: what the inbox does with a message needs no server. */
class Subscriber extends EventEmitter {
  subscribe = () => Promise.resolve(1);
}

async function openInbox() {
  const subscriber = new Subscriber();
  const keys = createRedisKeys('test');
  const logger = pino({ enabled: false });
  const sent: number[] = [];
  const metrics = { ...NO_METRICS, replied: (sentAt: number) => void sent.push(sentAt) };
  const redis = subscriber as unknown as RedisConnection;
  const inbox = await createReplyInbox<string>(redis, keys, 'me', logger, metrics);
  const receive = (payload: unknown) =>
    subscriber.emit('message', keys.replies('me'), JSON.stringify(payload));
  return { inbox, receive, sent };
}

const ids = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => `p${from + n}`);

it('lets others have their turn between the answers of one large message', async () => {
  const { inbox, receive } = await openInbox();
  const told: string[] = [];
  for (const id of ids(0, 240))
    void inbox.wait([id], LONG).then(([said]) => told.push(String(said)));
  receive(ids(0, 240).map((id) => [id, `for ${id}`]));
  await nextTurn();
  expect(told.length).toBeGreaterThan(0);
  expect(told.length).toBeLessThan(240);
  while (inbox.size > 0) await nextTurn();
  expect(told).toEqual(ids(0, 240).map((id) => `for ${id}`));
});

it('tells in the order of the messages, whatever arrives while it tells', async () => {
  const { inbox, receive } = await openInbox();
  const told: string[] = [];
  for (const id of ids(0, 360)) void inbox.wait([id], LONG).then(() => told.push(id));
  receive(ids(0, 160).map((id) => [id, '']));
  receive(ids(160, 160).map((id) => [id, '']));
  while (inbox.size > 40) await nextTurn();
  receive(ids(320, 40).map((id) => [id, '']));
  while (inbox.size > 0) await nextTurn();
  expect(told).toEqual(ids(0, 360));
});

it('goes on after a message that nobody can read', async () => {
  const { inbox, receive } = await openInbox();
  const waiting = inbox.wait(['p0'], LONG);
  receive(7);
  receive([['nobody', 'done'], 7]);
  receive([['p0', 'done']]);
  expect(await waiting).toEqual(['done']);
});

it('tells when a message was sent once the last of its replies is told', async () => {
  const { inbox, receive, sent } = await openInbox();
  const told = ids(0, 80).map((id) => inbox.wait([id], LONG));
  const replies = ids(0, 80).map((id) => ({ id, replyTo: 'me', settlement: 'done' }));
  const [message] = toMessages(replies, 1_717_200_000_000);
  receive(JSON.parse(message?.payload ?? ''));
  await told[0];
  expect(sent).toEqual([]);
  expect(await Promise.all(told)).toEqual(Array(80).fill(['done']));
  while (sent.length === 0) await nextTurn();
  expect(sent).toEqual([1_717_200_000_000]);
});

it('makes one message per web process, each with its time', () => {
  const reply = (id: string, replyTo: string) => ({ id, replyTo, settlement: 's' });
  const messages = toMessages([reply('a', 'one'), reply('b', 'two'), reply('c', 'one')], 7);
  expect(messages.map(({ replyTo, payload }) => [replyTo, JSON.parse(payload)])).toEqual([
    [
      'one',
      [
        ['a', 's'],
        ['c', 's'],
        ['', 7],
      ],
    ],
    [
      'two',
      [
        ['b', 's'],
        ['', 7],
      ],
    ],
  ]);
});

it('tells at the deadline which of several did not come, and of each that came at once', async () => {
  const { inbox, receive } = await openInbox();
  const told: string[] = [];
  const waiting = inbox.wait(ids(0, 3), 20, (said) => told.push(said));
  const alone = inbox.wait(['p9'], 20);
  receive([['p1', 'done']]);
  await nextTurn();
  expect(told).toEqual(['done']);
  expect(await waiting).toEqual([undefined, 'done', undefined]);
  // A hole would be passed over by every().
  expect((await alone).every(Boolean)).toBe(false);
  expect(inbox.size).toBe(0);
});
