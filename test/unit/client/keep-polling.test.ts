/** log tail --follow goes on polling where the database is away, and ends with anything else. */
import { mongo } from 'mongoose';
import { MatterPushError } from '../../../tools/client/error';
import { keepPolling } from '../../../tools/matterctl/log/follow';

/** Polls that fail once each, and one that ends it all. */
async function poll(failures: readonly Error[]) {
  const stop = new AbortController();
  const said: string[] = [];
  const left = [...failures];
  const next = async () => {
    const failure = left.shift();
    if (failure) throw failure;
    stop.abort();
  };
  await keepPolling(next, { write: (text: string) => said.push(text) } as never, stop.signal);
  return said;
}

test.each([
  ['the driver', new mongo.MongoNetworkError('gone')],
  [
    'a socket',
    Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET', syscall: 'write' }),
  ],
])('waits for the database after an error of %s', async (_, error) => {
  expect(await poll([error, error])).toEqual([
    `The database is away: ${error.message}\n`,
    'The database is back.\n',
  ]);
});

test('ends with an error that is not of the database', async () => {
  await expect(poll([new TypeError('a fault of ours')])).rejects.toThrow('a fault of ours');
});

const rejection = (retryable: boolean) =>
  new MatterPushError(
    {
      ...{ code: 503, reason: 'SHUTTING_DOWN', message: 'soon', retryable },
      ...{ requestId: null, errors: [], retryAfter: undefined },
    },
    { tries: 1, idempotencyKey: undefined },
  );

test('waits for a service that is away, and ends where it will not answer', async () => {
  expect(await poll([rejection(true)])).toEqual([
    'The service is away: soon\n',
    'The service is back.\n',
  ]);
  await expect(poll([rejection(false)])).rejects.toThrow('soon');
});
