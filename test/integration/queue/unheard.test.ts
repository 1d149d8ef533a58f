/** A database that answers too late: what callers were told and what the log says still agree. */
import { Types } from 'mongoose';
import { entryModel } from '../../../src/storage/push-log/entry';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import { todo } from '../../support/push-bodies';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

let mongo: TcpProxy;
let service: Service;
beforeAll(async () => {
  const url = new URL(testServers().mongoUrl);
  mongo = await startProxy(Number(url.port), url.hostname);
  url.host = `127.0.0.1:${mongo.port}`;
  service = await startService({ mongoUrl: url.href, env: { PUSH_TIMEOUT: '1s' } });
});
afterAll(async () => {
  await service.stop();
  mongo.close();
});

test('pushes whose entries come after their callers were told 503 are ended as that, at once', async () => {
  const push = (n: number) => service.push('upsert', todo(`UNHEARD-${n}`));
  await until('a push in time', async () => (await push(0)).code === 0);
  // A process that stands still just then may miss the answer of Redis too, and tells that.
  const answers = await until('callers to be told of the database', async () => {
    mongo.setDelay(1_500);
    const told = await Promise.all([1, 2, 3, 4].map(push));
    mongo.setDelay(0);
    for (const answer of told) expect(answer).toMatchObject({ code: 503, retryable: true });
    return told.every(({ reason }) => reason === 'DATABASE_UNAVAILABLE') && told;
  });
  const ids = answers.map(({ requestId }) => new Types.ObjectId(String(requestId)));
  const entries = () =>
    entryModel(service.db)
      .find({ _id: { $in: ids } })
      .lean();
  // Far from the minute after which the workers would find them. Not all of them may come.
  const ended = await until('entries, and their end', async () => {
    const found = await entries();
    return found.length > 0 && found.every(({ state }) => state !== 'QUEUED') && found;
  });
  for (const { state, result } of ended) {
    expect({ state, result }).toEqual({ state: 'REFUSED', result: 'DATABASE_UNAVAILABLE' });
  }
});
