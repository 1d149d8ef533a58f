/** Deadlines are in the time of Redis: what is believed of it is never later than the truth. */
import { createRedisTime } from '../../../src/infra/redis/time';

const OFFSET = 1_700_000_000_000;

/** Redis, whose answers take their time. */
function rig() {
  const clock = { now: 500 };
  const asked = { times: 0 };
  const stampOf = (at: number) => OFFSET + at;
  const redis = {
    time: async () => {
      asked.times += 1;
      const stamp = stampOf(clock.now);
      clock.now += 30;
      return [Math.floor(stamp / 1_000), (stamp % 1_000) * 1_000] as never;
    },
  };
  const time = createRedisTime(redis, () => clock.now);
  /** An answer that was this long on its way. */
  const answer = (ms: number) => {
    const stamp = stampOf(clock.now);
    clock.now += ms;
    time.note(stamp);
  };
  const error = async () => (await time.now()) - stampOf(clock.now);
  return { clock, asked, answer, error, aheadOf: time.aheadOf };
}

test('Redis is asked once, and counted on from then', async () => {
  const { clock, asked, error } = rig();
  expect(await error()).toBe(-30);
  clock.now += 10_000;
  expect(await error()).toBe(-30);
  expect(asked.times).toBe(1);
});

test('an answer that came faster brings it nearer to the truth, a slower one changes nothing', async () => {
  const { answer, error } = rig();
  await error();
  answer(2);
  expect(await error()).toBe(-2);
  answer(3_000);
  expect(await error()).toBe(-2);
});

test('what is older than a minute is not believed any more', async () => {
  const { clock, asked, error } = rig();
  await error();
  clock.now += 60_000;
  expect(await error()).toBe(-30);
  expect(asked.times).toBe(2);
});

test('how far it is ahead of another clock is known without asking, and forgotten never', async () => {
  const { clock, asked, error, aheadOf } = rig();
  const apart = (by: number) => aheadOf(() => OFFSET + clock.now - by);
  expect(apart(100_000)).toBe(0);
  await error();
  for (const pause of [0, 3_600_000]) {
    clock.now += pause;
    expect([apart(100_000), apart(-100_000)]).toEqual([99_970, -100_030]);
    // Clocks that are kept together: an id tells the time of receipt to the millisecond.
    expect([apart(0), apart(1_000), apart(-1_000)]).toEqual([0, 0, 0]);
  }
  expect(asked.times).toBe(1);
});
