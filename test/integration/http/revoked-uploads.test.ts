/**
 * A body that takes long to arrive is authenticated by what is known of its client when it is complete: a client
 * that was disabled and a key that was revoked in the meantime are rejected.
 */
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { matterModel } from '../../../src/storage/ledger/matters';
import { connectRaw, rawPush } from '../../support/raw-http';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

const QUERY = '/api/open/push-logs/query';
const DAY = 86_400_000;
const BODIES: Readonly<Record<string, string>> = {
  '/api/open/matters/batch':
    '{"op":"upsert","body":{"matterType":"TODO","externalId":"LATE","title":"x"}}\n',
  '/api/open/verify/batch':
    '{"op":"upsert","body":{"matterType":"TODO","externalId":"LATE","title":"x"}}\n',
  '/api/open/matters/orphans': '"LATE"\n"LATER"\n',
};
const PATHS = Object.keys(BODIES);

let service: SharedService;
let admin: ReturnType<typeof createClientAdmin>;
beforeAll(async () => {
  service = await sharedService();
  const ring = createKeyRing([String(service.env.SECRET_KEYS)]);
  admin = createClientAdmin(service.db, ring, Date.now);
});
afterAll(() => service.stop());

interface Signer {
  readonly clientId: string;
  readonly secret: string;
}

async function aClient(name: string): Promise<Signer> {
  const clientId = `late-${name}-${Math.random().toString(36).slice(2)}`;
  const { secret } = await admin.create({ clientId, systemCode: 'LATE' });
  return { clientId, secret: String(secret) };
}

/** What the signer of a small query is answered by now. */
const codeOf = async (signer: Signer) =>
  (await service.push('query', {}, { ...signer, path: QUERY })).code;

/**
 * Sends the head and half of the body, then lets `change` happen, and sends the rest when it is known.
 *
 * @param code of an answer that knows the change; a service that is busy may give others
 */
async function answerAcross(
  path: string,
  signer: Signer,
  { code, change }: { code: number; change: () => Promise<unknown> },
) {
  await until('the client to be known', async () => (await codeOf(signer)) === 0);
  const body = BODIES[path] ?? '';
  const half = body.length / 2;
  const caller = await connectRaw(service.urlOf());
  caller.send(rawPush({ ...signer, target: path, body, sent: body.slice(0, half) }));
  await change();
  await until('the change to be known', async () => (await codeOf(signer)) === code);
  caller.send(body.slice(half));
  const [answer] = await caller.untilAnswers(1);
  caller.socket.destroy();
  return answer;
}

test.each(PATHS)(
  '%s: a client that is disabled while the body arrives is rejected',
  async (path) => {
    const client = await aClient('disabled');
    const answer = await answerAcross(path, client, {
      ...{ code: 403, change: () => admin.setEnabled(client.clientId, false) },
    });
    expect(answer?.envelope()).toMatchObject({ code: 403, reason: 'CLIENT_DISABLED', data: null });
  },
);

test.each(PATHS)('%s: a key that is revoked while the body arrives is rejected', async (path) => {
  const client = await aClient('revoked');
  const { key: secret } = await admin.addQueryKey(client.clientId, { ttl: DAY, mayPush: true });
  const signer = { clientId: client.clientId, secret };
  const answer = await answerAcross(path, signer, {
    ...{ code: 401, change: () => admin.revokeQueryKeys(client.clientId) },
  });
  expect(answer?.envelope()).toMatchObject({ code: 401, reason: 'SIGNATURE_MISMATCH', data: null });
});

test('none of them has taken effect', async () => {
  expect(await matterModel(service.db).countDocuments({ systemCode: 'LATE' })).toBe(0);
});
