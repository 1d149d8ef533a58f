/** Ten thousand connections that do nothing: the others are served, and their end releases all. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expectUnharmed } from '../support/attack';
import { type Service, startService } from '../support/service';
import { until } from '../support/wait';

const WANTED = 10_000;

let service: Service;
beforeAll(async () => {
  service = await startService();
}, 60_000);
afterAll(() => service.stop());

const pid = () => Number(service.webs[0]?.pid);
const rss = () => Number(String(execFileSync('ps', ['-o', 'rss=', '-p', String(pid())]))) * 1024;
/** Open files of the ingress, connections among them; where the system does not tell, none. */
const openFiles = () => {
  if (process.platform !== 'linux') return 0;
  return readdirSync(`/proc/${pid()}/fd`).length;
};
const greet = (port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('error', reject);
    socket.once('data', () => resolve(socket));
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  });

test(`${WANTED}: a push gets through, memory is bounded, all is released at their end`, async () => {
  const limit = Number(String(execFileSync('sh', ['-c', 'ulimit -n'])));
  const count = Number.isNaN(limit) ? WANTED : Math.min(WANTED, limit - 500);
  if (count < WANTED) console.warn(`ONLY ${count} CONNECTIONS, not ${WANTED}: ulimit -n ${limit}`);
  const port = Number(new URL(service.urlOf()).port);
  const before = { rss: rss(), files: openFiles() };
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const more = Math.min(250, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: more }, () => greet(port)))));
  }
  if (before.files > 0) expect(openFiles()).toBeGreaterThanOrEqual(count);
  await expectUnharmed(service);
  // Some 10 KiB each.
  expect(rss() - before.rss).toBeLessThan(300 * 1024 * 1024);
  for (const socket of sockets) socket.destroy();
  await until('the connections to be released', async () => openFiles() <= before.files + 20);
  await expectUnharmed(service);
}, 120_000);
