/** How long the driver waits for a server: the service's limits, or those that the URL names. */
import { connectMongo } from '../../../src/infra/mongo';
import { testServers } from '../../support/service';

test.each([
  ['', { serverSelectionTimeoutMS: 2_000, connectTimeoutMS: 5_000 }],
  ['&connectTimeoutMS=9000', { serverSelectionTimeoutMS: 2_000, connectTimeoutMS: 9_000 }],
  ['&serverselectiontimeoutms=7000', { serverSelectionTimeoutMS: 7_000, connectTimeoutMS: 5_000 }],
])('with %j in its URL', async (more, limits) => {
  const connection = await connectMongo(`${testServers().mongoUrl}${more}`);
  const { options } = connection.getClient();
  await connection.close();
  expect(options).toMatchObject(limits);
});
