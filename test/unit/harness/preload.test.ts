/** What a process of a cluster loads before its own code: a clock that is wrong, and ways to members. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../../tools/local/project';

const run = promisify(execFile);
const preload = join(projectRoot(), 'dist/tools/harness/preload.js');

/** What an expression comes to in a process with the preload, and when it was asked. */
async function ask<T>(env: Record<string, string>, expression: string): Promise<T> {
  const script = `(async () => console.log(JSON.stringify(await (${expression}))))()`;
  const args = ['--require', preload, '--eval', script];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...env } });
  return JSON.parse(stdout);
}

test.each([-240_000, 240_000])('a clock that is %i ms off', async (shift) => {
  const before = Date.now();
  const seen = await ask<Record<string, number | boolean>>(
    { CHAOS_CLOCK_SHIFT: String(shift) },
    `{ now: Date.now(), date: +new Date(), text: Date.parse(Date()), given: +new Date(5),
       instance: new Date() instanceof Date, own: new (class extends Date {})() instanceof Date,
       constructor: new Date().constructor === Date, utc: Date.UTC(1970, 0, 1),
       monotonic: performance.timeOrigin + performance.now() }`,
  );
  const after = Date.now();
  for (const time of [seen.now, seen.date]) {
    expect(time).toBeGreaterThanOrEqual(before + shift);
    expect(time).toBeLessThanOrEqual(after + shift);
  }
  expect(seen.text).toBeGreaterThan(before + shift - 1_000);
  expect(seen).toMatchObject({ given: 5, instance: true, own: true, constructor: true, utc: 0 });
  expect(Math.abs(Number(seen.monotonic) - before)).toBeLessThan(60_000);
});

test('a connection to a member goes to its proxy, any other one where it was meant to go', async () => {
  const proxy = createServer((socket) => socket.end('proxy')).listen(0, '127.0.0.1');
  const other = createServer((socket) => socket.end('other')).listen(0, '127.0.0.1');
  await Promise.all([once(proxy, 'listening'), once(other, 'listening')]);
  const portOf = (server: typeof proxy) => (server.address() as AddressInfo).port;
  const answer = (port: number, as: (port: number) => string) =>
    ask<string>(
      { CHAOS_WAYS: JSON.stringify({ 1: portOf(proxy) }) },
      `new Promise((done) => require('node:net').createConnection(${as(port)})
         .on('data', (data) => done(String(data))))`,
    );
  const named = (port: number) => `{ host: '127.0.0.1', port: ${port} }`;
  try {
    expect(await answer(1, named)).toBe('proxy');
    expect(await answer(portOf(other), named)).toBe('other');
    expect(await answer(portOf(other), (port) => `${port}, '127.0.0.1'`)).toBe('other');
  } finally {
    proxy.close();
    other.close();
  }
});
