/** A rolling restart: a web process is not ready first, serves for a while longer, and closes then. */
import { request } from 'node:http';
import type { AppProcess } from '../../../tools/local/app-process';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

/** Milliseconds that it serves on. */
const DRAIN_DELAY = 10_000;

let service: Service;
let web: AppProcess;
let url: string;
beforeAll(async () => {
  service = await startService({ processes: true });
  web = await service.startWeb({ DRAIN_DELAY: `${DRAIN_DELAY}ms` });
  url = service.urlOf(1);
});
afterAll(() => service.stop());

/** On a connection of its own: undefined where none is taken. */
const ask = (path: string) =>
  new Promise<{ status: number | undefined; connection: string | undefined } | undefined>(
    (resolve) => {
      const req = request(url + path, { agent: false, headers: { Connection: 'keep-alive' } });
      req.on('response', (res) => {
        res.resume();
        resolve({ status: res.statusCode, connection: res.headers.connection });
      });
      req.on('error', () => resolve(undefined));
      req.end();
    },
  );

test('SIGTERM: not ready, still serving, then gone; a second signal cuts nothing', async () => {
  expect(await ask('/readyz')).toEqual({ status: 200, connection: 'keep-alive' });
  expect((await service.push('upsert', todo('DRAIN-0'), { url })).headers.connection).toBe(
    'keep-alive',
  );
  // Not later than the moment from which on it is not ready.
  let since = performance.now();
  web.kill('SIGTERM');
  const left = await until('an answer that it is not ready', async () => {
    const asked = performance.now();
    const answer = await ask('/readyz');
    // Where it takes no connection any more, balancers have had nothing to notice.
    if (!answer) throw new Error('connection refused before it was not ready');
    if (answer.status === 503) return answer;
    since = asked;
    return undefined;
  });
  // Whoever keeps a connection alive is told to leave it.
  expect(left.connection).toBe('close');
  web.kill('SIGTERM');
  expect(await ask('/healthz')).toMatchObject({ status: 200 });
  let pushes = 0;
  await until('a push that is not taken any more', async () => {
    pushes += 1;
    const pushed = await service
      .push('upsert', todo(`DRAIN-${pushes}`), { url })
      .catch(() => undefined);
    if (pushed?.code !== 0) return true;
    expect(pushed).toMatchObject({
      data: { outcome: 'CREATED' },
      headers: { connection: 'close' },
    });
    return false;
  });
  // All the time in which whoever sends callers here may notice.
  expect(performance.now() - since).toBeGreaterThanOrEqual(DRAIN_DELAY);
  await until('its port to be closed', async () => (await ask('/readyz')) === undefined);
  expect(await web.exited).toBe('exit code 0');
});
