/** What a client is told about itself and about users. */
import { z } from 'zod';
import { count, instant, oneOf, type ShapeOf } from '../../protocol/answer-shape';
import type {
  CheckedUsers,
  ClientRate,
  ClientSelf,
  Retentions,
  SecretView,
  ServiceLimits,
  UserState,
} from '../../protocol/self';

export function selfSchemas() {
  const user = z.object({
    username: z.string(),
    state: oneOf<UserState>({ ENABLED: true, DISABLED: true, UNKNOWN: true }),
  } satisfies ShapeOf<CheckedUsers['users'][number]>);
  const users = z.object({
    allEnabled: z.boolean(),
    users: z.array(user),
  } satisfies ShapeOf<CheckedUsers>);
  const rate = z.object({ perSecond: count(), burst: count() } satisfies ShapeOf<ClientRate>);
  const secret = z.object({
    secretId: z.string(),
    createdAt: instant(),
    endsAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
  } satisfies ShapeOf<SecretView>);
  const retentions = z.object({
    pushLog: z.number(),
    bodies: z.number(),
    replay: z.number(),
  } satisfies ShapeOf<Retentions>);
  const limits = z.object({
    bodyBytes: count(),
    pushTimeout: count(),
    timestampWindow: count(),
    signatureGrace: z.number().nullable(),
    parties: count(),
  } satisfies ShapeOf<ServiceLimits>);
  const self = z.object({
    clientId: z.string(),
    systemCode: z.string(),
    rate: rate.nullable(),
    paused: z.object({ since: instant(), reason: z.string().nullable() }).nullable(),
    secrets: z.array(secret),
    timeZone: z.string(),
    concludedStatuses: z.array(z.string()),
    retentions,
    limits,
    serviceTime: instant(),
    version: z.string(),
  } satisfies ShapeOf<ClientSelf>);
  return {
    CheckedUser: user,
    CheckedUsers: users,
    ClientRate: rate,
    SecretView: secret,
    Retentions: retentions,
    ServiceLimits: limits,
    ClientSelf: self,
  };
}
