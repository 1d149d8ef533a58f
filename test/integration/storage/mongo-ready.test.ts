/** The database is there as long as its driver knows a primary. */
import { connectMongo, isMongoReady } from '../../../src/storage/mongo';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

test('a heartbeat that is late, as on a busy machine, does not make the database unavailable', async () => {
  const connection = await connectMongo(testServers().mongoUrl);
  try {
    const { now } = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 10_000);
    await until('mongoose to miss a heartbeat', async () => connection.readyState === 0);
    expect(isMongoReady(connection)).toBe(true);
  } finally {
    jest.restoreAllMocks();
    await connection.close();
  }
  expect(isMongoReady(connection)).toBe(false);
});
