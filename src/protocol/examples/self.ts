/** Examples of the queries `users/check` and `clients/me`, and of the answers to them. */
import type { ClientSelf } from '../self';
import type { CheckedUsers } from '../users-check';

export const USERS_CHECK = { usernames: ['li.lei', 'han.meimei', 'lilei'] };
export const CHECKED_USERS: CheckedUsers = {
  allEnabled: false,
  users: [
    { username: 'li.lei', state: 'ENABLED' },
    { username: 'han.meimei', state: 'DISABLED' },
    { username: 'lilei', state: 'UNKNOWN' },
  ],
};

export const CLIENT_SELF: ClientSelf = {
  clientId: 'oa',
  systemCode: 'OA',
  rate: { perSecond: 50, burst: 100 },
  paused: { since: '2026-11-21T13:40:00.000Z', reason: '数据核对中' },
  secrets: [
    {
      secretId: 's2',
      createdAt: '2026-11-20T02:00:00.000Z',
      endsAt: null,
      lastUsedAt: '2026-11-21T13:51:40.112Z',
    },
    {
      secretId: 's1',
      createdAt: '2026-01-05T02:00:00.000Z',
      endsAt: '2026-11-27T02:00:00.000Z',
      lastUsedAt: '2026-11-20T09:15:02.870Z',
    },
  ],
  queryKeys: [
    {
      secretId: 'k7',
      createdAt: '2026-11-21T01:00:00.000Z',
      endsAt: '2026-11-21T09:00:00.000Z',
      lastUsedAt: null,
      scopes: ['query'],
      bodies: false,
    },
  ],
  signedWith: {
    secretId: 's2',
    scopes: ['query', 'push'],
    bodies: true,
    endsAt: null,
    rate: { perSecond: 50, burst: 100 },
  },
  timeZone: 'Asia/Shanghai',
  concludedStatuses: ['DONE', 'APPROVED', 'REJECTED'],
  retentions: { pushLog: 2_592_000, bodies: 604_800, replay: 86_400 },
  limits: {
    bodyBytes: 1_048_576,
    pushTimeout: 10_000,
    batchLines: 1_000,
    batchBytes: 8_388_608,
    batchTimeout: 30_000,
    timestampWindow: 300,
    signatureGrace: 30,
    parties: 500,
  },
  serviceTime: '2026-11-21T13:52:01.570Z',
  version: '0.1.0',
};
