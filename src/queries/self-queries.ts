/** The signed queries `clients/me` (data about the sending client) and `users/check` (states of users). */
import type { Connection } from 'mongoose';
import type { Clock } from '../concurrency/timing';
import { PushError } from '../protocol/errors';
import { readQuery } from '../protocol/query-body';
import {
  type ClientRate,
  type ClientSelf,
  clientSelfSchema,
  type QueryKeyView,
  type Retentions,
  type SecretView,
  type ServiceLimits,
} from '../protocol/self';
import { type CheckedUsers, usersCheckSchema } from '../protocol/users-check';
import { VERSION } from '../protocol/version';
import {
  createCheckUsers,
  createFindOwnRecord,
  type OwnRecord,
  type OwnSecret,
} from '../storage/directory';
import type { AnswerQuery } from './signed-query';

export function createUsersCheck(mongo: Connection): AnswerQuery<CheckedUsers> {
  const check = createCheckUsers(mongo);
  return async ({ body }) => {
    const usernames = [...new Set(readQuery(usersCheckSchema, body).usernames)];
    const found = await check(usernames);
    const users = usernames.map((username) => {
      const enabled = found.get(username);
      if (enabled === undefined) return { username, state: 'UNKNOWN' as const };
      return { username, state: enabled ? ('ENABLED' as const) : ('DISABLED' as const) };
    });
    return { allEnabled: users.every(({ state }) => state === 'ENABLED'), users };
  };
}

export interface SelfSettings {
  /** RATE_LIMIT and RATE_BURST: the default rate of a client. 0 pushes per second means no limit. */
  readonly rate: ClientRate;
  readonly queryKeyRate: ClientRate;
  /** PORTAL_TIME_ZONE */
  readonly timeZone: string;
  readonly concludedStatuses: readonly string[];
  readonly retentions: Retentions;
  readonly limits: ServiceLimits;
}

/** The query throws PushError SIGNATURE_MISMATCH if the client was removed after authentication. */
export function createClientSelf(
  mongo: Connection,
  { rate: defaultRate, queryKeyRate, ...settings }: SelfSettings,
  clock: Clock,
): AnswerQuery<ClientSelf> {
  const find = createFindOwnRecord(mongo);
  return async ({ clientId, systemCode, secretId, queryKey, body }) => {
    readQuery(clientSelfSchema, body);
    const record = await find(clientId);
    if (!record) throw new PushError('SIGNATURE_MISMATCH');
    const { rate, ...view } = viewOf(record, defaultRate);
    return {
      clientId,
      systemCode,
      ...{ rate, ...view },
      signedWith: {
        secretId,
        scopes: scopesOf(!queryKey || queryKey.mayPush),
        bodies: !queryKey?.noBodies,
        endsAt: queryKey ? new Date(queryKey.endsAt).toISOString() : null,
        rate: queryKey ? queryKeyRate : rate,
      },
      ...settings,
      serviceTime: new Date(clock()).toISOString(),
      version: VERSION,
    };
  };
}

function viewOf({ limit, paused, secrets, queryKeys }: OwnRecord, byDefault: ClientRate) {
  const { rate = byDefault.perSecond, burst = byDefault.burst } = limit;
  return {
    rate: rate === 0 ? null : { perSecond: rate, burst },
    paused: paused ? { since: paused.since.toISOString(), reason: paused.reason ?? null } : null,
    secrets: secrets.map(secretViewOf),
    queryKeys: queryKeys.map((key) => ({
      ...secretViewOf(key),
      scopes: scopesOf(key.mayPush),
      bodies: !key.noBodies,
    })),
  };
}

const secretViewOf = ({ id, createdAt, expiresAt, lastUsedAt }: OwnSecret): SecretView => ({
  secretId: id,
  createdAt: createdAt.toISOString(),
  endsAt: expiresAt?.toISOString() ?? null,
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});

const scopesOf = (mayPush: boolean): QueryKeyView['scopes'] =>
  mayPush ? ['query', 'push'] : ['query'];
