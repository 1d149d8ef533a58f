/** What a client asks about itself and about the users that it would name. */
import type { Connection } from 'mongoose';
import type { Clock } from '../concurrency/clock';
import { PushError } from '../protocol/errors';
import { TIMESTAMP_WINDOW } from '../protocol/headers';
import { MAX_PARTIES } from '../protocol/limits';
import { readQuery } from '../protocol/query-body';
import {
  type CheckedUsers,
  type ClientSelf,
  clientSelfSchema,
  type QueryKeyView,
  type Retentions,
  type SecretView,
  type ServiceLimits,
  usersCheckSchema,
} from '../protocol/self';
import { VERSION } from '../protocol/version';
import type { AnswerQuery } from '../queries/open-query';
import type { Config } from '../runtime/config';
import { createCheckUsers } from '../storage/directory/check-users';
import {
  createFindOwnRecord,
  type OwnRecord,
  type OwnSecret,
} from '../storage/directory/own-record';
import { REPLAY_WINDOW } from '../storage/push-log/lookups';

/** `users/check`. @throws (what is built) PushError VALIDATION_FAILED naming what is wrong */
export function openUsersCheck(mongo: Connection): AnswerQuery {
  const check = createCheckUsers(mongo);
  return async ({ body }): Promise<CheckedUsers> => {
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

/** `clients/me`. @throws (what is built) PushError SIGNATURE_MISMATCH where it is gone meanwhile */
export function openClientSelf(mongo: Connection, config: Config, clock: Clock): AnswerQuery {
  const find = createFindOwnRecord(mongo);
  const keyRate = { perSecond: config.QUERY_KEY_RATE, burst: config.QUERY_KEY_BURST };
  const settings = {
    timeZone: config.PORTAL_TIME_ZONE,
    concludedStatuses: config.CONCLUDED_STATUSES,
    retentions: retentionsOf(config),
    limits: limitsOf(config),
  };
  return async ({ clientId, systemCode, secretId, queryKey, body }): Promise<ClientSelf> => {
    readQuery(clientSelfSchema, body);
    const record = await find(clientId);
    if (!record) throw new PushError('SIGNATURE_MISMATCH');
    const { rate, ...view } = viewOf(record, config);
    return {
      clientId,
      systemCode,
      ...{ rate, ...view },
      signedWith: {
        secretId,
        scopes: scopesOf(!queryKey || queryKey.mayPush),
        endsAt: queryKey ? new Date(queryKey.endsAt).toISOString() : null,
        rate: queryKey ? keyRate : rate,
      },
      ...settings,
      serviceTime: new Date(clock()).toISOString(),
      version: VERSION,
    };
  };
}

function viewOf({ limit, paused, secrets, queryKeys }: OwnRecord, config: Config) {
  const { rate = config.RATE_LIMIT, burst = config.RATE_BURST } = limit;
  return {
    rate: rate === 0 ? null : { perSecond: rate, burst },
    paused: paused ? { since: paused.since.toISOString(), reason: paused.reason ?? null } : null,
    secrets: secrets.map(secretViewOf),
    queryKeys: queryKeys.map((key) => ({ ...secretViewOf(key), scopes: scopesOf(key.mayPush) })),
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

const seconds = (ms: number) => ms / 1000;

function retentionsOf(config: Config): Retentions {
  const { PUSH_LOG_RETENTION: pushLog, PUSH_BODY_RETENTION: bodies } = config;
  return {
    pushLog: seconds(pushLog),
    bodies: seconds(Math.min(bodies, pushLog)),
    replay: config.IDEMPOTENT_REPLAY === 'on' ? seconds(REPLAY_WINDOW) : 0,
  };
}

function limitsOf({ SIGNATURE_GRACE: grace, ...config }: Config): ServiceLimits {
  return {
    bodyBytes: config.BODY_LIMIT,
    pushTimeout: config.PUSH_TIMEOUT,
    batchLines: config.BATCH_MAX_ITEMS,
    batchBytes: config.BATCH_BODY_LIMIT,
    batchTimeout: config.BATCH_TIMEOUT,
    timestampWindow: TIMESTAMP_WINDOW,
    signatureGrace: grace === 'off' ? null : seconds(grace),
    parties: MAX_PARTIES,
  };
}
