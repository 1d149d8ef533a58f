/** Waiting for a client that was made a moment ago: what a web process knows of clients is a few seconds old at most. */
import { type PushOptions, push } from './pusher';
import { until } from './wait';

/** Whatever the service answers afterwards, it is about this client with this secret. */
export async function untilKnown(
  who: Pick<PushOptions, 'url' | 'clientId' | 'secret'>,
): Promise<void> {
  const question = { operation: '', path: '/api/open/clients/me', body: {} };
  await until(`the service to know ${who.clientId}`, async () => {
    const { code, reason } = await push({ ...who, ...question });
    return code < 500 && reason !== 'SIGNATURE_MISMATCH';
  });
}
