import { createServer } from 'node:net';
import { freePort, isFree } from '../../../tools/local/ports';

const FIRST_OF_OUTGOING = 32_768;

test('ports that are asked for together differ, and no outgoing connection can take them', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, () => freePort()));
  expect(new Set(ports).size).toBe(200);
  expect(Math.max(...ports)).toBeLessThan(FIRST_OF_OUTGOING);
});

test('two workers of jest, which start servers at the same time, choose no port in common', async () => {
  const portsOf = (worker: string) => {
    process.env.JEST_WORKER_ID = worker;
    return Promise.all(Array.from({ length: 600 }, () => freePort()));
  };
  const [one, two] = [await portsOf('1'), await portsOf('2')];
  expect(one.filter((port) => two.includes(port))).toEqual([]);
});

test('a port where somebody listens is not free, and it is free after the end', async () => {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  expect(await isFree(port, '127.0.0.1')).toBe(false);
  await new Promise((resolve) => server.close(resolve));
  expect(await isFree(port, '127.0.0.1')).toBe(true);
});
