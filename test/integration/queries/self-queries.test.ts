/** users/check and clients/me through HTTP: what a client asks about users and about itself. */
import type { ClientSelf } from '../../../src/protocol/self';
import type { CheckedUsers } from '../../../src/protocol/users-check';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { userModel } from '../../../src/storage/directory/user-model';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  await userModel(service.db).insertMany([
    { _id: 'sc.enabled', displayName: 'E', enabled: true },
    { _id: 'sc.disabled', displayName: 'D', enabled: false },
  ]);
});
afterAll(() => service.stop());

const ask = (name: string, body: unknown) => service.push('', body, { path: `/api/open/${name}` });
const check = async (usernames: readonly string[]) =>
  (await ask('users/check', { usernames })).data as unknown as CheckedUsers;
const me = async () => (await ask('clients/me', {})).data as unknown as ClientSelf;
const admin = () =>
  createClientAdmin(service.db, createKeyRing([String(service.env.SECRET_KEYS)]), Date.now);

describe('users/check', () => {
  test('says of each name, in the order asked and once, what a push would find', async () => {
    const names = ['sc.unknown', 'sc.enabled', 'sc.disabled', 'sc.enabled'];
    expect(await check(names)).toEqual({
      allEnabled: false,
      users: [
        { username: 'sc.unknown', state: 'UNKNOWN' },
        { username: 'sc.enabled', state: 'ENABLED' },
        { username: 'sc.disabled', state: 'DISABLED' },
      ],
    });
    expect((await check(['sc.enabled'])).allEnabled).toBe(true);
    const parties = names.map((username) => ({ username, partyRole: 'CC' }));
    const push = { matterType: 'TODO', externalId: 'SC-1', title: 't', parties };
    const { reason, errors } = await service.push('upsert', push);
    expect(reason).toBe('UNKNOWN_USER');
    expect(JSON.stringify(errors)).not.toContain('sc.enabled');
  });

  test.each([
    ['usernames', {}],
    ['usernames', { usernames: [] }],
    ['usernames', { usernames: 'sc.enabled' }],
    ['usernames', { usernames: Array.from({ length: 1_001 }, (_, n) => `u${n}`) }],
    ['usernames[1]', { usernames: ['a', { $ne: null }] }],
    ['usernames[0]', { usernames: ['x'.repeat(65)] }],
  ])('a bad %s is rejected by name', async (field, body) => {
    const answer = await ask('users/check', body);
    expect(answer).toMatchObject({ code: 400, reason: 'VALIDATION_FAILED' });
    expect(answer.errors?.map((error) => error.field)).toEqual([field]);
  });
});

describe('clients/me', () => {
  test('tells who asks, what holds for it, and never a secret', async () => {
    const answer = await ask('clients/me', {});
    const self = answer.data as unknown as ClientSelf;
    expect(self).toMatchObject({
      clientId: service.clientId,
      rate: null,
      paused: null,
      timeZone: 'Asia/Shanghai',
      retentions: { pushLog: 2_592_000, bodies: 604_800, replay: 86_400 },
      limits: { bodyBytes: 1_048_576, timestampWindow: 300, signatureGrace: 30, parties: 500 },
      version: '0.1.0',
    });
    expect(self.concludedStatuses).toContain('APPROVED');
    expect(self.secrets).toEqual([expect.objectContaining({ endsAt: null })]);
    expect(JSON.stringify(answer)).not.toContain(service.secret);
    expect(JSON.stringify(answer)).not.toContain('sealed');
    const push = { matterType: 'TODO', externalId: 'ME-1', title: 't' };
    const { requestId } = await service.push('upsert', push);
    const { data } = await ask('push-logs/query', { requestId });
    const [entry] = (data as unknown as { entries: { secretId: string }[] }).entries;
    expect(entry?.secretId).toBe(self.secrets[0]?.secretId);
    await until('its use to be known', async () => (await me()).secrets[0]?.lastUsedAt);
  });

  test('a pause, its reason and a rate of its own are told while pushes wait', async () => {
    const { clientId } = service;
    await admin().pause(clientId, 'data is being checked');
    await admin().setLimit(clientId, { rate: 70 });
    try {
      expect(await me()).toMatchObject({
        paused: { since: expect.any(String), reason: 'data is being checked' },
        rate: { perSecond: 70, burst: 400 },
        signedWith: { rate: { perSecond: 70, burst: 400 } },
      });
    } finally {
      await admin().resume(clientId);
      await admin().setLimit(clientId, null);
    }
    expect(await me()).toMatchObject({ paused: null, rate: null });
  });
});
