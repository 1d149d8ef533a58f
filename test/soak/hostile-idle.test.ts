/**
 * Ten thousand connections that do nothing, some of them from the start or in the middle of a head:
 * the others are served, and their end releases all.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expectUnharmed } from '../support/attack';
import { type Service, startService } from '../support/service';
import { until } from '../support/wait';

const WANTED = 10_000;
/** Of these, so many of each kind that never send a whole head: they are cut off after a while. */
const HEADLESS = 250;
const LIMIT = Number(String(execFileSync('sh', ['-c', 'ulimit -n'])));
/** The system may let one process have fewer: then the name of the test says so. */
const COUNT = Number.isNaN(LIMIT) ? WANTED : Math.min(WANTED, LIMIT - 500);
const NAME = COUNT < WANTED ? `ONLY ${COUNT}, NOT ${WANTED} (ulimit -n is ${LIMIT})` : `${WANTED}`;
if (COUNT < WANTED) console.warn(`IDLE CONNECTIONS: ${NAME}`);
const GREETING = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
const HALF_A_HEAD = GREETING.slice(0, 30);

let service: Service;
beforeAll(async () => {
  // On a slow machine ten thousand connections take longer to open than the first of them would be kept.
  service = await startService({ processes: true, env: { KEEP_ALIVE_TIMEOUT: '10m' } });
});
afterAll(() => service.stop());

const pid = () => Number(service.webs[0]?.pid);
const rss = () => Number(String(execFileSync('ps', ['-o', 'rss=', '-p', String(pid())]))) * 1024;
/** Open files of the web process, connections among them; where the system does not tell, none. */
const openFiles = () => {
  if (process.platform !== 'linux') return 0;
  return readdirSync(`/proc/${pid()}/fd`).length;
};
/** A connection that sent this; where that is a request, it is answered. */
const open = (sent: string) =>
  new Promise<Socket>((resolve, reject) => {
    const { hostname, port } = new URL(service.urlOf());
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', reject);
    socket.resume();
    socket.once(sent === GREETING ? 'data' : 'connect', () => resolve(socket));
    socket.write(sent);
  });

/** So many, some at a time. */
async function openMany(count: number, sent: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const more = Math.min(250, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: more }, () => open(sent)))));
  }
  return sockets;
}

test(`${NAME}: a push gets through, memory is bounded, all is released at their end`, async () => {
  const before = { rss: rss(), files: openFiles() };
  const idle = await openMany(COUNT - 2 * HEADLESS, GREETING);
  // Each of them was answered. Those without a head may still wait to be accepted, or be cut off already.
  if (before.files > 0) expect(openFiles()).toBeGreaterThanOrEqual(idle.length);
  const headless = [...(await openMany(HEADLESS, '')), ...(await openMany(HEADLESS, HALF_A_HEAD))];
  await expectUnharmed(service);
  // Some 10 KiB each.
  expect(rss() - before.rss).toBeLessThan(300 * 1024 * 1024);
  const isOver = async () => headless.every(({ closed }) => closed);
  await until('those without a head to be cut off', isOver);
  expect(idle.filter(({ closed }) => closed)).toEqual([]);
  await expectUnharmed(service);
  for (const socket of idle) socket.destroy();
  await until('the connections to be released', async () => openFiles() <= before.files + 20);
  await expectUnharmed(service);
});
