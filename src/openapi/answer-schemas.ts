/** Every schema of what the service answers, by its name in the document. */
import { z } from 'zod';
import { fieldError } from '../protocol/field-error';
import { logPageSchemas } from '../protocol/log-page';
import { warning } from '../protocol/warnings';
import { ALL_CAUSES } from '../signature-diagnosis/causes';
import { comparisonSchemas } from './answers/comparison';
import { errorAnswer, pushData, reasonSchema, successOf, verified } from './answers/envelope';
import { failureSchemas } from './answers/failures';
import { matterSchemas } from './answers/matter';
import { selfSchemas } from './answers/self';
import { statsSchemas } from './answers/stats';

export function answerSchemas() {
  const matters = matterSchemas();
  const log = logPageSchemas(ALL_CAUSES);
  const comparison = comparisonSchemas(matters);
  const failures = failureSchemas();
  const self = selfSchemas();
  const stats = statsSchemas();
  const push = pushData();
  const reason = reasonSchema();
  return {
    PushAnswer: successOf(push),
    VerifyAnswer: successOf(verified),
    LogAnswer: successOf(log.LogPage),
    FailuresAnswer: successOf(failures.Failures),
    StatsAnswer: successOf(stats.PushStats),
    GetAnswer: successOf(comparison.GotMatters),
    ChangesAnswer: successOf(comparison.ChangesPage),
    DiffAnswer: successOf(comparison.MatterDiff),
    DigestAnswer: successOf(comparison.MatterDigest),
    UsersAnswer: successOf(self.CheckedUsers),
    SelfAnswer: successOf(self.ClientSelf),
    OrphansEnd: successOf(matters.OrphanCount),
    AliveAnswer: successOf(z.object({ status: z.literal('alive') })),
    ReadyAnswer: successOf(z.object({ status: z.literal('ready') })),
    ErrorAnswer: errorAnswer(reason),
    Reason: reason,
    FieldError: fieldError,
    Warning: warning,
    PushData: push,
    Verified: verified,
    ...log,
    ...failures,
    ...stats,
    ...matters,
    ...comparison,
    ...self,
  };
}

export type AnswerName = keyof ReturnType<typeof answerSchemas>;
