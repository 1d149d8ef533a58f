/** What became of the pushes of the last minutes, counted in bounded memory. */

import { addFlows, createFlow } from '../../../src/observability/processes/flow';
import { PushError } from '../../../src/protocol/errors';
import { BATCH_PATH, pushPath, queryPath } from '../../../src/protocol/paths';

const PATH = pushPath('upsert');

function flowing() {
  const clock = { now: 1_000_000 };
  const flow = createFlow(() => clock.now);
  const push = (clientId: string | undefined, ms = 10) => ({ path: PATH, clientId, ms });
  return { clock, flow, push };
}

test('outcomes and reasons are counted, for each client too', () => {
  const { clock, flow, push } = flowing();
  for (let n = 0; n < 3; n += 1) flow.answered(push('oa'), 'CREATED');
  flow.rejected(push('oa'), new PushError('DATABASE_UNAVAILABLE'));
  clock.now += 2_000;
  flow.rejected(push('hr'), new PushError('CLIENT_PAUSED'));
  flow.rejected(push(undefined), new PushError('SIGNATURE_MISMATCH'));
  const { results, clients } = flow.read();
  expect(results.map(({ result, count }) => [result, count])).toEqual([
    ...[['CREATED', 3] as const, ['DATABASE_UNAVAILABLE', 1] as const],
    ...[['CLIENT_PAUSED', 1] as const, ['SIGNATURE_MISMATCH', 1] as const],
  ]);
  expect(clients).toEqual([
    {
      ...{ clientId: 'oa', pushes: 4, failed: 1, rejected: 0 },
      ...{ lastReason: 'DATABASE_UNAVAILABLE', lastReasonMs: 2_000 },
    },
    {
      ...{ clientId: 'hr', pushes: 1, failed: 0, rejected: 1 },
      ...{ lastReason: 'CLIENT_PAUSED', lastReasonMs: 0 },
    },
  ]);
});

test('lines of batches count as pushes, also where nobody knows their operation', () => {
  const { flow, push } = flowing();
  flow.answered(push('oa'), 'CREATED', 150);
  flow.rejected({ ...push('oa'), path: BATCH_PATH }, new PushError('BACKLOG_FULL'), 200);
  const { results, clients } = flow.read();
  expect(results.map(({ result, count }) => [result, count])).toEqual([
    ['BACKLOG_FULL', 200],
    ['CREATED', 150],
  ]);
  expect(clients).toMatchObject([{ pushes: 350, failed: 200, lastReason: 'BACKLOG_FULL' }]);
});

test('queries are no pushes', () => {
  const { flow } = flowing();
  flow.answered({ path: queryPath('matters/get'), clientId: 'oa', ms: 1 }, 'ANSWERED');
  expect(flow.read()).toMatchObject({ results: [], clients: [] });
});

test('what is older than five minutes is forgotten, also where nothing comes any more', () => {
  const { flow, push, clock } = flowing();
  flow.answered(push('oa'), 'CREATED');
  clock.now += 240_000;
  flow.answered(push('oa'), 'UPDATED');
  expect(flow.read()).toMatchObject({ spanMs: 240_000, results: [{}, {}] });
  clock.now += 100_000;
  expect(flow.read()).toMatchObject({ spanMs: 300_000, results: [{ result: 'UPDATED' }] });
  clock.now += 300_000;
  expect(flow.read().results).toEqual([]);
});

test('however many clients there are, the memory and the record have their bound', () => {
  const { flow, push } = flowing();
  for (let n = 0; n < 10_000; n += 1) flow.answered(push(`c${n}`, n), 'CREATED');
  const told = flow.read();
  expect(told.results).toMatchObject([{ count: 10_000 }]);
  expect(JSON.stringify(told).length).toBeLessThan(20_000);
});

test('the flows of several processes are one', () => {
  const [one, two] = [flowing(), flowing()];
  one.flow.answered(one.push('oa'), 'CREATED');
  two.flow.answered(two.push('oa'), 'CREATED');
  two.flow.rejected(two.push('oa'), new PushError('RATE_LIMITED'));
  const { results, clients } = addFlows([one.flow.read(), two.flow.read()]);
  expect(results).toMatchObject([{ result: 'CREATED', count: 2 }, { result: 'RATE_LIMITED' }]);
  expect(clients).toMatchObject([{ pushes: 3, rejected: 1, lastReason: 'RATE_LIMITED' }]);
});
