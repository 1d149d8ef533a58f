/**
 * Crowds of unsigned uploads that never end: they take each other's room, never that of the pushes,
 * and what they sent is bounded in bytes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expectUnharmed } from '../../support/attack';
import { connectRaw, type RawCaller } from '../../support/raw-http';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const MAX = 4;
const MIB = 1024 * 1024;

let service: Service;
const callers: RawCaller[] = [];
const hangUp = () => {
  for (const { socket } of callers.splice(0)) socket.destroy();
};

/** A head that announces a body, and some of that body. */
async function begin(path: string, length: number, sent: string | Buffer): Promise<RawCaller> {
  const caller = await connectRaw(service.urlOf());
  callers.push(caller);
  const auth = `X-Client-Id: tester\r\nX-Timestamp: ${Math.floor(Date.now() / 1000)}\r\n`;
  const head = `POST /api/open/${path} HTTP/1.1\r\nHost: a\r\n${auth}X-Signature: ${'0'.repeat(64)}\r\n`;
  caller.send(`${head}Content-Length: ${length}\r\n\r\n`);
  caller.send(sent);
  return caller;
}

/** How many of them are still connected. */
async function left(some: readonly RawCaller[]): Promise<number> {
  const isOpen = ({ closed }: RawCaller) =>
    Promise.race([closed.then(() => false), sleep(0, true)]);
  return (await Promise.all(some.map(isOpen))).filter(Boolean).length;
}

/** Whose time was over: a machine that stands still may need more than the twelve seconds of a body. */
const isLate = (caller: RawCaller) => caller.received().includes('"REQUEST_TIMEOUT"');
/** While earlier queries of the client have not ended yet, the service answers a query before its body has arrived. */
const isOneQueryTooMany = (caller: RawCaller) => caller.received().includes('"TOO_MANY_QUERIES"');
const isAnswered = (caller: RawCaller) => isLate(caller) || isOneQueryTooMany(caller);

const PATHS = [
  'matters/upsert',
  'matters/batch',
  'verify/batch',
  'matters/query',
  'matters/orphans',
];

describe('slow bodies', () => {
  beforeAll(async () => {
    service = await startService({ env: { MAX_IN_FLIGHT: String(MAX) } });
  });
  afterEach(hangUp);
  afterAll(() => service.stop());

  test.each(PATHS)(
    'five times MAX_IN_FLIGHT of them to %s: every push gets through, the newest stay',
    async (path) => {
      const slow: RawCaller[] = [];
      for (let round = 0; round < 5; round += 1) {
        for (let n = 0; n < MAX; n += 1) slow.push(await begin(path, 1_000, '{'));
        const answer = await service.push('upsert', {
          matterType: 'TODO',
          externalId: `ROUND-${round}`,
          title: 'x',
        });
        expect(answer).toMatchObject({ status: 200, code: 0 });
      }
      await until('the oldest to be cut off', async () => (await left(slow)) <= MAX);
      // A push is an upload for a moment, too.
      const kept = (await left(slow)) + slow.slice(-MAX).filter(isAnswered).length;
      expect(kept).toBeGreaterThanOrEqual(MAX - 1);
      expect(await left(slow.slice(0, -MAX))).toBe(0);
      await expectUnharmed(service);
    },
  );
});

describe('large bodies', () => {
  beforeAll(async () => {
    // With 300 MiB a process of its own: the body's time limit is not the subject.
    service = await startService({ processes: true, env: { MAX_IN_FLIGHT: '5000' } });
  });
  afterAll(async () => {
    hangUp();
    await service.stop();
  });

  test('300 MiB of unfinished bodies: what is over 256 MiB is cut off, the oldest first', async () => {
    const piece = Buffer.alloc(MIB - 1, ' ');
    const large = await until('300 bodies within the time of a body', async () => {
      const sent: RawCaller[] = [];
      for (let n = 0; n < 300; n += 1) sent.push(await begin('matters/get', MIB, piece));
      await until('some to be cut off', async () => (await left(sent)) <= 256);
      if (!sent.some(isLate)) return sent;
      hangUp();
      return false;
    });
    expect(await left(large.slice(0, 30))).toBe(0);
    expect(await left(large)).toBeGreaterThan(200);
    // A caller that is too slow gets an answer with the reason. These callers get none.
    expect(large.slice(0, 30).map((caller) => caller.received())).toEqual(Array(30).fill(''));
    await expectUnharmed(service);
  });
});
