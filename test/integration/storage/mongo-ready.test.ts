/** The database is there as long as its driver knows a primary. */
import { once } from 'node:events';
import { connectMongo } from '../../../src/infra/mongo';
import { isMongoReady } from '../../../src/infra/mongo-availability';
import { testServers } from '../../support/service';

test('a heartbeat that is late, as on a busy machine, does not make the database unavailable', async () => {
  const connection = await connectMongo(testServers().mongoUrl);
  try {
    await once(connection.getClient(), 'serverHeartbeatSucceeded');
    const { now } = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 10_000);
    expect(connection.readyState).toBe(0);
    expect(isMongoReady(connection)).toBe(true);
  } finally {
    jest.restoreAllMocks();
    await connection.close();
  }
  expect(isMongoReady(connection)).toBe(false);
});
