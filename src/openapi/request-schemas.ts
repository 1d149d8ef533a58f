/** Every schema of what the service takes, by its name in the document: the ones that validate. */
import { failuresSchema } from '../contract/failures';
import { idLine } from '../contract/id-lines';
import { logQuerySchema } from '../contract/log-query';
import { matterQuerySchemas } from '../contract/matter-queries';
import { statsSchema } from '../contract/push-stats';
import { bodySchemas, party } from '../contract/requests';
import { clientSelfSchema, usersCheckSchema } from '../contract/self';
import { verifySchema } from '../contract/verify-body';

/** Neither has a bearing on the form of a body. */
const SETTINGS = { timeZone: 'UTC', clock: () => 0 };

export function requestSchemas() {
  const pushes = bodySchemas(SETTINGS);
  const queries = matterQuerySchemas(SETTINGS.timeZone);
  return {
    UpsertBody: pushes.upsert,
    StatusBody: pushes.status,
    ReopenBody: pushes.reopen,
    DeleteBody: pushes.delete,
    Party: party,
    VerifyBody: verifySchema(pushes),
    FailuresBody: failuresSchema(SETTINGS.timeZone),
    LogQueryBody: logQuerySchema(SETTINGS.timeZone),
    StatsBody: statsSchema(SETTINGS.timeZone),
    GetBody: queries.get,
    MattersQueryBody: queries.query,
    DiffBody: queries.diff,
    DigestBody: queries.digest,
    OrphansLine: idLine,
    UsersCheckBody: usersCheckSchema,
    ClientSelfBody: clientSelfSchema,
  };
}

export type BodyName = keyof ReturnType<typeof requestSchemas>;
