/**
 * The types of the service's answers that the client exports. The schemas in `src/protocol` define these types with
 * zod. The package of the client contains this file with each type written out, so it does not need zod.
 */
export type { OperationName } from '../../src/domain/operation';
export type { QueryAnswers, QueryName } from '../../src/protocol/endpoints';
export type {
  FailedRow,
  FailureGroup,
  FailureSample,
  Failures,
  FailureTotals,
  Mended,
} from '../../src/protocol/failures';
export type { EntryView } from '../../src/protocol/log-entry';
export type {
  Diagnosis,
  Difference,
  Finding,
  LogPage,
  PageEntry,
} from '../../src/protocol/log-page';
export type {
  ChangesPage,
  Digest,
  DigestBucket,
  GotMatters,
  HeldView,
  MatterDiff,
  MatterDifference,
  MatterDigest,
} from '../../src/protocol/matter-answers';
export type { MatterAnswer as MatterView, PartyView } from '../../src/protocol/matter-view';
export type { PushData, Verified } from '../../src/protocol/push-data';
export type { PushStats, StatsBucket, StatsRow, StatsTotal } from '../../src/protocol/push-stats';
export type {
  ClientRate,
  ClientSelf,
  Retentions,
  SecretView,
  ServiceLimits,
} from '../../src/protocol/self';
export type { CheckedUsers, UserState } from '../../src/protocol/users-check';
export type { FieldError, Warning, WarningKind } from '../../src/protocol/warnings';
