/** The schemas of the OpenAPI document, by name. */
import { z } from 'zod';
import {
  batchData,
  batchLineSchema,
  batchResult,
  verifiedBatch,
  verifiedLine,
} from '../protocol/batch';
import { queryRows } from '../protocol/endpoints';
import { idLine } from '../protocol/id-lines';
import { describe } from '../protocol/language';
import { orphanCount } from '../protocol/matter-view';
import { partyBodySchema, partyRemovalBodySchema } from '../protocol/party-fields';
import { pushData, verified } from '../protocol/push-data';
import { bodySchemas } from '../protocol/requests';
import { resendData, resendResult, resendSchema } from '../protocol/resend';
import { verifySchema } from '../protocol/verify-body';
import { fieldError, warning } from '../protocol/warnings';
import { ALL_CAUSES } from '../signature-diagnosis/causes';
import { errorAnswer, partialAnswer, reasonSchema, successSchemaOf } from './envelope-schemas';

/** Placeholders: the OpenAPI document does not depend on the settings. */
const SETTINGS = { timeZone: 'UTC', clock: () => 0 };

/** The query bodies that the document lists first, in this order. */
const FIRST_BODIES = [
  'FailuresBody',
  'LogQueryBody',
  'StatsBody',
  'GetBody',
  'MattersQueryBody',
  'DiffBody',
  'DigestBody',
  'OrphansLine',
];
const positionOf = (name: string) =>
  FIRST_BODIES.includes(name) ? FIRST_BODIES.indexOf(name) : FIRST_BODIES.length;

type Schemas = Readonly<Record<string, z.ZodType>>;

export function requestSchemas(): Schemas {
  const pushes = bodySchemas(SETTINGS);
  return {
    UpsertBody: pushes.upsert,
    StatusBody: pushes.status,
    ReopenBody: pushes.reopen,
    DeleteBody: pushes.delete,
    Party: partyBodySchema,
    PartyRemoval: partyRemovalBodySchema,
    BatchLine: batchLineSchema(pushes),
    VerifyBody: verifySchema(pushes),
    ResendBody: resendSchema,
    ...queryBodies(),
  };
}

function queryBodies(): Schemas {
  const ofRows = queryRows().map(
    ({ body }) => [body.name, body.schema(SETTINGS.timeZone)] as const,
  );
  const bodies = [...ofRows, ['OrphansLine', idLine] as const];
  return Object.fromEntries(bodies.sort(([a], [b]) => positionOf(a) - positionOf(b)));
}

export function answerSchemas(): Schemas {
  const reason = reasonSchema();
  // Calls `row.schemas` only once, because zod recognizes a schema by object identity.
  const ofQueries: Schemas = Object.assign(
    {},
    ...queryRows().map((row) => row.schemas(ALL_CAUSES)),
  );
  return {
    PushAnswer: successSchemaOf(pushData).meta(
      describe('The answer to a push that succeeded', '推送成功的响应'),
    ),
    VerifyAnswer: successSchemaOf(verified).meta(
      describe('The answer to the dry run of a valid push', '校验通过的响应'),
    ),
    BatchAnswer: successSchemaOf(batchData).meta(
      describe('The answer to a batch without failed lines', '批次全部写入的响应'),
    ),
    VerifyBatchAnswer: successSchemaOf(verifiedBatch).meta(
      describe('The answer to the dry run of a valid batch', '批次全部校验通过的响应'),
    ),
    ResendAnswer: successSchemaOf(resendData).meta(
      describe('The answer to a resend without failed pushes', '所有推送均已落库的响应'),
    ),
    PartialAnswer: partialAnswer(),
    ...queryAnswers(ofQueries),
    OrphansEnd: successSchemaOf(orphanCount).meta(
      describe('The last line of a complete list of orphans', '完整结果的最后一行'),
    ),
    AliveAnswer: successSchemaOf(processState('alive')).meta(
      describe('The process is alive', '进程存活'),
    ),
    ReadyAnswer: successSchemaOf(processState('ready')).meta(
      describe('The process is ready', '进程就绪'),
    ),
    ErrorAnswer: errorAnswer(reason),
    Reason: reason,
    FieldError: fieldError,
    Warning: warning,
    PushData: pushData,
    BatchData: batchData,
    BatchResult: batchResult,
    ResendData: resendData,
    ResendResult: resendResult,
    VerifiedBatch: verifiedBatch,
    VerifiedLine: verifiedLine,
    Verified: verified,
    ...ofQueries,
  };
}

function queryAnswers(named: Schemas): Schemas {
  const entries = queryRows().map(({ answer }) => {
    const data = named[answer.data];
    if (!data) throw new Error(`the row of ${answer.name} has no schema ${answer.data}`);
    return [answer.name, successSchemaOf(data).meta(describe(...answer.description))] as const;
  });
  return Object.fromEntries(entries);
}

const processState = (status: 'alive' | 'ready') =>
  z.object({ status: z.literal(status).meta(describe('The state of the process', '进程状态')) });
