import { supervise } from '../../../tools/local/supervise';
import { until } from '../../support/wait';

/** Something that runs until the test ends it. */
function runner() {
  let end: (how: string) => void = () => {};
  const exited = new Promise<string>((resolve) => {
    end = resolve;
  });
  return { exited, end, stop: async () => end('stopped') };
}

async function startSupervised(clock: { now: number }) {
  const launched: ReturnType<typeof runner>[] = [];
  const lines: string[] = [];
  const gaveUp: string[] = [];
  const launch = async () => {
    const next = runner();
    launched.push(next);
    return next;
  };
  const supervised = await supervise(
    {
      name: 'web',
      launch,
      say: (line) => lines.push(line),
      giveUp: (error) => gaveUp.push(error.message),
      now: () => clock.now,
    },
    new AbortController().signal,
  );
  const crash = async () => {
    const count = launched.length;
    launched.at(-1)?.end('signal SIGKILL');
    await until('its end to be seen', async () => launched.length > count || gaveUp.length > 0);
  };
  return { supervised, launched, lines, gaveUp, crash };
}

test('a crashed process is started again, and a stopped one is not', async () => {
  const { supervised, launched, lines, crash } = await startSupervised({ now: 0 });
  await crash();
  expect(launched).toHaveLength(2);
  expect(lines[0]).toBe('web ended with signal SIGKILL, starting it again');
  await supervised.stop();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(launched).toHaveLength(2);
});

test('the fourth crash within a minute is the end', async () => {
  const { launched, gaveUp, crash } = await startSupervised({ now: 0 });
  for (let count = 0; count < 4; count += 1) await crash();
  expect(launched).toHaveLength(4);
  expect(gaveUp).toEqual(['web crashed 4 times within a minute']);
});

test('crashes further apart are restarted for ever', async () => {
  const clock = { now: 0 };
  const { supervised, launched, gaveUp, crash } = await startSupervised(clock);
  for (let count = 0; count < 5; count += 1) {
    await crash();
    clock.now += 25_000;
  }
  expect(launched).toHaveLength(6);
  expect(gaveUp).toEqual([]);
  await supervised.stop();
});
