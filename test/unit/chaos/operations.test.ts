/** The operations of a chaos run: valid unless meant otherwise, and of every kind. */
import { createBodyParsers } from '../../../src/protocol/requests';
import { createOperations } from '../../../tools/chaos/operations';
import { createRandom } from '../../../tools/harness/random';

const world = { usernames: ['li', 'wang', 'sun', 'zhao'], hotKeys: 3, coldKeys: 100 };
const parsers = createBodyParsers({ timeZone: 'Asia/Shanghai', clock: Date.now });
const next = createOperations(createRandom('operations'), 1, world);
const drawn = Array.from({ length: 3_000 }, () => {
  const { name, body: text } = next();
  const body: Record<string, unknown> = JSON.parse(text);
  return { name, body, isMeantInvalid: body.title === null };
});

test('only what is meant to be invalid is', () => {
  for (const { name, body, isMeantInvalid } of drawn) {
    expect([body, parsers[name](body).success]).toEqual([body, !isMeantInvalid]);
  }
});

test.each(['upsert', 'status'])('%s removes parties, in one role and in all', (wanted) => {
  const removals = drawn
    .filter(({ name }) => name === wanted)
    .flatMap(({ body }) => (body.removeParties ?? []) as readonly object[]);
  const withRole = removals.filter((removal) => 'partyRole' in removal).length;
  expect(withRole).toBeGreaterThan(50);
  expect(removals.length - withRole).toBeGreaterThan(50);
});
