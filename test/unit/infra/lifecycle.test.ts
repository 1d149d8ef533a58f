/** A stop waits for accepted work, and not for servers that are away. */
import { createLifecycle } from '../../../src/infra/lifecycle';
import { createLogger } from '../../../src/infra/logger';
import { outagesOf } from '../../../src/infra/outages';

const never = () => new Promise(() => {});
const fails = async () => {
  throw new Error('no server');
};

function rig(timeout = 100_000) {
  const lines: { readonly msg: string; readonly step?: string }[] = [];
  const to = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const logger = createLogger('test', 'info', { to });
  const lifecycle = createLifecycle(logger, timeout);
  const lose = () => outagesOf(logger).lost('redis', 'commands', 'the connection was closed');
  const steps = () => lines.flatMap(({ step }) => step ?? []);
  return { lifecycle, lose, steps, lines };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

async function ends(stopped: Promise<number>, within: number): Promise<number | undefined> {
  let exitCode: number | undefined;
  void stopped.then((code) => {
    exitCode = code;
  });
  await jest.advanceTimersByTimeAsync(within);
  return exitCode;
}

test('steps that wait for a server that hangs share a few seconds, and are no failure', async () => {
  const { lifecycle, steps } = rig();
  const done: string[] = [];
  lifecycle.onStop('quick', () => void done.push('quick'));
  for (const name of ['third', 'second', 'first']) lifecycle.onStop(name, never);
  expect(await ends(lifecycle.stop('test'), 3_500)).toBe(0);
  expect(steps()).toEqual(['first', 'second', 'third']);
  expect(done).toEqual(['quick']);
});

test('accepted work is finished, however long it takes', async () => {
  const { lifecycle, lose, steps } = rig();
  lifecycle.onDrain('work', () => new Promise((resolve) => setTimeout(resolve, 50_000)));
  lose();
  expect(await ends(lifecycle.stop('test'), 49_000)).toBeUndefined();
  expect(await ends(lifecycle.stop('test'), 2_000)).toBe(0);
  expect(steps()).toEqual([]);
});

test('accepted work that fails while no server is away is a failure; what only cleans up is none', async () => {
  const cleaning = rig();
  cleaning.lifecycle.onStop('failing', fails);
  expect(await ends(cleaning.lifecycle.stop('test'), 100)).toBe(0);
  const working = rig();
  working.lifecycle.onDrain('failing', fails);
  expect(await ends(working.lifecycle.stop('test'), 100)).toBe(1);
  for (const { steps } of [cleaning, working]) expect(steps()).toEqual(['failing']);
});

test('what fails because a server is away is no failure of the process', async () => {
  const { lifecycle, lose, steps } = rig();
  lifecycle.onDrain('failing', fails);
  lose();
  expect(await ends(lifecycle.stop('test'), 100)).toBe(0);
  expect(steps()).toEqual(['failing']);
});

test('the deadline ends a stop in any case', async () => {
  const { lifecycle, lines } = rig(10_000);
  lifecycle.onDrain('hanging', never);
  expect(await ends(lifecycle.stop('test'), 10_000)).toBe(1);
  expect(lines.at(-1)).toMatchObject({ msg: 'the shutdown took too long' });
});

test('while the parts of a hanging server stop, the drains that were registered before them still run in time', async () => {
  const { lifecycle, steps } = rig(10_000);
  const done: string[] = [];
  for (const name of ['counts', 'rejection log'])
    lifecycle.onDrain(name, () => void done.push(name));
  lifecycle.onStop('partition jobs', never);
  lifecycle.run('finalizer', { stop: never });
  lifecycle.onDrain('server', () => void done.push('server'));
  expect(await ends(lifecycle.stop('test'), 4_000)).toBe(0);
  expect(steps()).toEqual(['finalizer', 'partition jobs']);
  expect(done).toEqual(['server', 'rejection log', 'counts']);
});

test('a component is returned by `run` and stopped in reverse order', async () => {
  const { lifecycle } = rig();
  const stopped: string[] = [];
  const component = (name: string) => ({ name, stop: () => void stopped.push(name) });
  const expiry = lifecycle.run('expiry', component('expiry'));
  lifecycle.run('sweep', component('sweep'));
  expect(expiry.name).toBe('expiry');
  expect(await ends(lifecycle.stop('test'), 1_000)).toBe(0);
  expect(stopped).toEqual(['sweep', 'expiry']);
});
