/** A test file that leaves a connection, a server, a timer or a process behind fails. */
import { runFiles } from '../../support/jest-files';

test('a file fails if it leaves something behind, and its error names what', () => {
  const listening = `mine = net.createServer((s) => s.resume()).listen(0); await once(mine, 'listening');`;
  const connected = `${listening} const client = net.connect(mine.address().port); await once(client, 'connect');`;
  const results = runFiles({
    timer: 'setTimeout(() => {}, 3_600_000);',
    interval: 'setInterval(() => {}, 3_600_000);',
    wait: `require('node:timers/promises').setTimeout(3_600_000);`,
    server: listening,
    connection: `${connected} mine.close();`,
    process: `mine = spawn('sleep', ['60'], { stdio: 'ignore' }); await once(mine, 'spawn');`,
    ended: `${connected} client.destroy(); mine.close(); clearTimeout(setTimeout(() => {}, 9_999));`,
    'short-timer': 'setTimeout(() => {}, 50);',
    // The process stands still for longer than it waits, while a timer is due that it has not come to.
    stalled: `setTimeout(() => {}, 300); setTimeout(() => {
      const end = performance.now() + 1_500; while (performance.now() < end);
    }, 10);`,
    'unref-timer': 'setTimeout(() => {}, 3_600_000).unref();',
    streams: 'void process.stdin; void process.stdout; void process.stderr;',
    'fake-timer': 'jest.useFakeTimers(); setTimeout(() => {}, 3_600_000);',
  });
  const failed = [...results].filter(([, { status }]) => status === 'failed').map(([name]) => name);
  expect(failed.sort()).toEqual(['connection', 'interval', 'process', 'server', 'timer', 'wait']);
  const messageOf = (name: string) => results.get(name)?.message;
  expect(messageOf('timer')).toMatch(/This file left behind:\s+a timer of 3600000 ms/);
  expect(messageOf('server')).toMatch(/1 more of TCPServerWrap than before\s+Server at port \d+/);
  expect(messageOf('connection')).toMatch(/connection from port \d+ to port \d+/);
  expect(messageOf('process')).toMatch(/process \d+: sleep 60/);
});
