/** With all mechanisms, the faults of chaos-broken.e2e.test.ts break no promise. */
import { runDirected } from '../../tools/chaos/directed';
import { MECHANISMS, type Mechanism } from '../../tools/chaos/mechanisms';
import { CROWD, OF_TIME, untilTestEnds } from '../support/chaos-crowd';

const within = untilTestEnds();

const LIMIT = 300_000;
test.each(Object.keys(MECHANISMS) as Mechanism[])(
  'with %s the same faults break no promise',
  async (mechanism) => {
    const { root, say } = CROWD;
    const run = { root, say, mechanism, isIntact: true, signal: within(LIMIT) };
    const { violations, crashes } = await runDirected(run);
    expect(violations.filter(({ rule }) => !OF_TIME.includes(rule))).toEqual([]);
    expect(crashes).toEqual([]);
  },
  LIMIT,
);
