/** Every schema of what the service answers, by its name in the document. */
import { z } from 'zod';
import { batchData, batchResult, verifiedBatch, verifiedLine } from '../protocol/batch';
import { about } from '../protocol/bilingual';
import * as comparison from '../protocol/comparison';
import { pushData, verified } from '../protocol/envelope';
import * as failures from '../protocol/failures';
import { fieldError } from '../protocol/field-error';
import { logPageSchemas } from '../protocol/log-page';
import { matterView, orphanCount, orphanView, partyView } from '../protocol/matter-view';
import * as stats from '../protocol/push-stats';
import * as self from '../protocol/self';
import { warning } from '../protocol/warnings';
import { ALL_CAUSES } from '../signature-diagnosis/causes';
import { errorAnswer, partialAnswer, reasonSchema, successOf } from './envelope-schemas';

export function answerSchemas() {
  const log = logPageSchemas(ALL_CAUSES);
  const reason = reasonSchema();
  return {
    PushAnswer: successOf(pushData).meta(
      about('The answer to a push that was written', '推送成功的响应'),
    ),
    VerifyAnswer: successOf(verified).meta(
      about('The answer to a push that would be accepted', '校验通过的响应'),
    ),
    BatchAnswer: successOf(batchData).meta(
      about('The answer to a batch of which every line was written', '批次全部写入的响应'),
    ),
    VerifyBatchAnswer: successOf(verifiedBatch).meta(
      about(
        'The answer to a batch of which every line would be accepted',
        '批次全部校验通过的响应',
      ),
    ),
    PartialAnswer: partialAnswer(),
    LogAnswer: successOf(log.LogPage).meta(about('A page of the push log', '推送日志的一页')),
    FailuresAnswer: successOf(failures.failures).meta(
      about('Failed pushes, and whether they are mended', '失败的推送及其是否已恢复'),
    ),
    StatsAnswer: successOf(stats.pushStats).meta(
      about('Counts and times of pushes', '推送的数量与耗时'),
    ),
    GetAnswer: successOf(comparison.gotMatters).meta(
      about('The matters that were asked for', '所查询的事项'),
    ),
    ChangesAnswer: successOf(comparison.changesPage).meta(
      about('A page of changed matters', '变更事项的一页'),
    ),
    DiffAnswer: successOf(comparison.matterDiff).meta(about('What differs', '差异')),
    DigestAnswer: successOf(comparison.matterDigest).meta(about('Counts and hashes', '数量与哈希')),
    UsersAnswer: successOf(self.checkedUsers).meta(
      about('What the directory knows of the names', '登录名的状态'),
    ),
    SelfAnswer: successOf(self.clientSelf).meta(
      about('What holds for the client that asks', '当前 client 的信息'),
    ),
    OrphansEnd: successOf(orphanCount).meta(
      about('The last line of a complete list of orphans', '完整结果的最后一行'),
    ),
    AliveAnswer: successOf(processState('alive')).meta(about('The process answers', '进程存活')),
    ReadyAnswer: successOf(processState('ready')).meta(
      about('The process may get requests', '进程就绪'),
    ),
    ErrorAnswer: errorAnswer(reason),
    Reason: reason,
    FieldError: fieldError,
    Warning: warning,
    PushData: pushData,
    BatchData: batchData,
    BatchResult: batchResult,
    VerifiedBatch: verifiedBatch,
    VerifiedLine: verifiedLine,
    Verified: verified,
    ...log,
    FailureSample: failures.failureSample,
    FailureGroup: failures.failureGroup,
    Mended: failures.mended,
    FailedRow: failures.failedRow,
    Failures: failures.failures,
    StatsTotal: stats.statsTotal,
    StatsRow: stats.statsRow,
    PushStats: stats.pushStats,
    Matter: matterView,
    MatterParty: partyView,
    Orphan: orphanView,
    OrphanCount: orphanCount,
    GotMatters: comparison.gotMatters,
    ChangesPage: comparison.changesPage,
    HeldMatter: comparison.heldView,
    MatterDifference: comparison.differingMatter,
    MatterDiff: comparison.matterDiff,
    DigestBucket: comparison.digestBucket,
    MatterDigest: comparison.matterDigest,
    CheckedUser: self.checkedUser,
    CheckedUsers: self.checkedUsers,
    ClientRate: self.clientRate,
    SecretView: self.secretView,
    Retentions: self.retentions,
    ServiceLimits: self.serviceLimits,
    ClientSelf: self.clientSelf,
  };
}

const processState = (status: 'alive' | 'ready') =>
  z.object({ status: z.literal(status).meta(about('How the process is', '进程状态')) });

export type AnswerName = keyof ReturnType<typeof answerSchemas>;
