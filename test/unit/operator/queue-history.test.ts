/** The last hour of the operator page: an outage belongs to it until an hour after its end. */
import type { Outage, Outages } from '../../../src/infra/outages';
import { HISTORY, startQueueHistory } from '../../../src/operator/queue-history';
import { until } from '../../support/wait';

const NOW = 10 * HISTORY;

async function outagesAt(outage: Outage) {
  const outages: Pick<Outages, 'last'> = {
    last: (server) => (server === 'redis' ? outage : undefined),
  };
  const history = startQueueHistory(
    async () => [],
    outages as Outages,
    () => NOW,
  );
  try {
    await until('a sample', async () => history.samples().length > 0);
    return history.outages();
  } finally {
    await history.stop();
  }
}

const BEGAN = { since: NOW - 3 * HISTORY, error: 'the connection was closed' };

test.each([
  ['that still goes on', null, 1],
  ['that ended less than an hour ago', NOW - HISTORY + 1, 1],
  ['that ended more than an hour ago', NOW - HISTORY - 1, 0],
])('an outage that began three hours ago, and %s', async (_what, end, count) => {
  expect(await outagesAt({ ...BEGAN, until: end })).toHaveLength(count);
});
