/** A namespace of Redis belongs to one database while processes run. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { startInProcess } from '../../support/in-process';
import {
  openDatabase,
  type Service,
  startService,
  testServers,
  withDatabase,
} from '../../support/service';

const other = `t-other-${randomBytes(5).toString('hex')}`;
const otherUrl = withDatabase(testServers().mongoUrl, other);
let service: Service;
beforeAll(async () => {
  service = await startService();
  const db = await openDatabase(otherUrl);
  await db.close();
}, 60_000);
afterAll(async () => {
  await service.stop();
  const db = await openDatabase(otherUrl);
  await db.dropDatabase();
  await db.close();
});

const start = (kind: 'web' | 'worker', env: Readonly<Record<string, string>>) => {
  const folder = path.dirname(String(service.webs[0]?.logFile));
  const settings = { PORT: '0', METRICS_PORT: '0', ...service.env, ...env };
  return startInProcess(kind, { env: settings, logFile: path.join(folder, `other-${kind}.log`) });
};

test.each(['web', 'worker'] as const)(
  'a %s of another database does not start, and names both',
  async (kind) => {
    const failure = await start(kind, { MONGO_URL: otherUrl }).catch(
      (error: Error) => error.message,
    );
    expect(failure).toContain('REDIS_NAMESPACE');
    expect(failure).toContain(`/${other}`);
    expect(failure).toContain(`/${service.db.name}`);
  },
);

test('one of the same database starts by another URL of it', async () => {
  const url = String(service.env.MONGO_URL).replace('127.0.0.1', 'localhost');
  const web = await start('web', { MONGO_URL: url });
  await web.stop();
});
