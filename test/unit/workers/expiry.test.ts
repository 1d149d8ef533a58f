/** Nothing else looks for lost pushes: an operator is told where that fails again and again. */
import pino from 'pino';
import { startExpiry } from '../../../workers/expire-lost';
import { until } from '../../support/wait';

test('a look for lost pushes that keeps failing is told once, and once more when it is over', async () => {
  const lines: { level: number; msg: string; failures?: number }[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  let looks = 0;
  const expiry = startExpiry(
    {
      expireLost: async () => {
        looks += 1;
        if (looks <= 25) throw new Error('not authorized on matter-push to execute this command');
        return 0;
      },
      queueTime: async () => 100_000,
      clock: () => 100_000,
      workerName: 'w',
      timeout: 10_000,
      logger,
    },
    1,
  );
  await until('a look that succeeds', async () => looks > 26);
  await expiry.stop();
  expect(lines).toMatchObject([
    { level: 40, msg: 'could not expire lost pushes, retrying', failures: 10 },
    { level: 30, msg: 'expiry works again', failures: 25 },
  ]);
});
