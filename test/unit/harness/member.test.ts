/** A process of a chaos run comes back, and an end that nobody ordered is noticed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Member, startMember } from '../../../tools/harness/member';

/** A process that does as it is told, and can end by itself. */
class FakeProcess {
  private tell: (how: string) => void = () => undefined;
  readonly signals: string[] = [];
  readonly exited = new Promise<string>((resolve) => {
    this.tell = resolve;
  });
  constructor(readonly pid: number) {}
  end(how: string): void {
    this.tell(how);
  }
  kill(signal: NodeJS.Signals): void {
    this.signals.push(signal);
    if (signal === 'SIGKILL') this.end('signal SIGKILL');
  }
  async stop(): Promise<void> {
    this.end('exit code 0');
  }
}

let launched: FakeProcess[];
let crashes: string[];
let failures: number;
let stopping: AbortController;
let member: Member;
const start = () =>
  startMember({
    name: 'web-0',
    logFile: '/nowhere/web-0.log',
    launch: async () => {
      if (failures-- > 0) throw new Error('its servers are away');
      const next = new FakeProcess(launched.length + 1);
      launched.push(next);
      return next;
    },
    crashed: (what) => crashes.push(what),
    signal: stopping.signal,
  });
beforeEach(async () => {
  [launched, crashes, failures, stopping] = [[], [], 0, new AbortController()];
  member = await start();
});

test('the first start is repeated if a server did not answer in time', async () => {
  failures = 1;
  expect((await start()).pid()).toBe(2);
  expect(crashes).toEqual([]);
});

test('who was killed stays down until it is restarted, and that is no crash', async () => {
  member.kill('SIGKILL');
  await sleep(1);
  expect(member.pid()).toBeUndefined();
  await member.restart();
  expect(member.pid()).toBe(2);
  member.kill('SIGTERM');
  launched[1]?.end('exit code 0');
  await member.restart();
  expect(member.pid()).toBe(3);
  expect(crashes).toEqual([]);
});

test('who ends by itself is reported with how, and started again', async () => {
  launched[0]?.end('exit code 7');
  await sleep(1);
  expect(crashes).toEqual([expect.stringMatching(/^web-0 ended with exit code 7\. The end of /)]);
  expect(member.pid()).toBe(2);
  await member.restart();
  launched[2]?.end('signal SIGSEGV');
  await sleep(1);
  expect(crashes).toHaveLength(2);
  expect(member.pid()).toBe(4);
});

test('a start that fails is tried again: another fault may have been in its way', async () => {
  member.kill('SIGKILL');
  failures = 2;
  await member.restart();
  expect(member.pid()).toBe(2);
});

test('a restart of one that is coming back already waits for that', async () => {
  failures = 1;
  launched[0]?.end('exit code 7');
  await sleep(1);
  await member.restart();
  expect(launched).toHaveLength(2);
  await member.restart();
  expect(launched).toHaveLength(3);
});

test('a stopped process is continued before it is ended, and does not come back', async () => {
  stopping.abort();
  await member.stop();
  await sleep(1);
  expect(launched.map(({ signals }) => signals)).toEqual([['SIGCONT']]);
  expect(member.pid()).toBeUndefined();
  expect(crashes).toEqual([]);
});
