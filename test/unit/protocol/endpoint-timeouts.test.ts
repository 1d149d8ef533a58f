/** The endpoint table is the source of every timeout. */
import { ENDPOINTS, timeoutOf } from '../../../src/protocol/endpoints';

const SETTINGS = { PUSH_TIMEOUT: 1, BATCH_TIMEOUT: 2, BODY_LIMIT: 3, BATCH_BODY_LIMIT: 4 };

test('each endpoint has the timeout of its row', () => {
  const found = Object.fromEntries(ENDPOINTS.map(({ name }) => [name, timeoutOf(name, SETTINGS)]));
  expect(found).toMatchObject({ upsert: 1, 'matters/batch': 2, verify: 1, 'push-logs/resend': 2 });
  expect(found).toMatchObject({ 'push-logs/query': 1, 'matters/digest': 60_000 });
  expect(Object.values(found).filter((ms) => ![1, 2, 60_000].includes(ms))).toEqual([]);
});
