/** Every schema of what the service takes, by its name in the document: the ones that validate. */
import { batchLineSchema } from '../protocol/batch';
import { failuresSchema } from '../protocol/failures';
import { idLine } from '../protocol/id-lines';
import { logQuerySchema } from '../protocol/log-query';
import { matterQuerySchemas } from '../protocol/matter-queries';
import { statsSchema } from '../protocol/push-stats';
import { bodySchemas, party } from '../protocol/requests';
import { clientSelfSchema, usersCheckSchema } from '../protocol/self';
import { verifySchema } from '../protocol/verify-body';

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
    BatchLine: batchLineSchema(pushes),
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
