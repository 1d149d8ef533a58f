/** Without any one of the mechanisms that protect the promises, the check reports a violation. */
import { isDetected, runDirected } from '../../tools/chaos/directed';
import { MECHANISMS, type Mechanism } from '../../tools/chaos/mechanisms';
import { CROWD, untilTestEnds } from '../support/chaos-crowd';

const within = untilTestEnds();

const LIMIT = 300_000;
test.each(Object.keys(MECHANISMS) as Mechanism[])(
  'without %s the check reports a violation',
  async (mechanism) => {
    const { root, say } = CROWD;
    const result = await runDirected({ root, say, mechanism, signal: within(LIMIT) });
    expect({ ...result, isDetected: isDetected(mechanism, result) }).toMatchObject({
      isDetected: true,
      crashes: [],
    });
  },
  LIMIT,
);
