/** Entry point of `src/pushes/`: processes pushes in the web process. */
import type { RedisConnection } from '../infra/redis/connect';
import { createBodyParsers } from '../protocol/requests';
import type { RedisKeys } from '../queue/keys';
import type { UserDirectory } from '../storage/directory';
import type { Bodies, FindMended, LogLookups } from '../storage/push-log';
import { type AdmissionSettings, type Admit, createAdmit } from './admission';
import type { ApplyDependencies } from './apply';
import { BatchWindow } from './batch-window';
import { createIdempotency } from './idempotency';
import { LoadShedder } from './load-shedder';
import { type BatchReader, createCheckBodies } from './read-batch';
import type { LogRejection } from './rejections';
import { type ClientResend, createClientResend } from './resend-request';
import { createSubmit, type Submit, type SubmitDependencies } from './submit';
import { type CheckBody, createCheckBody } from './validate';

export type { Admit } from './admission';
export { databaseCall, queueCall } from './availability';
export { finalizeWaiting, PushFinalizer, startLostReplyLookup } from './lost-replies';
export {
  type AcceptedPush,
  outcomeOf,
  type PushAnswer,
  type PushRequest,
  type PushResult,
} from './push';
export { commonOperation, type PushEnded, toCountedPush } from './push-ended';
export { createQueueAndWait, type QueueAndWait } from './queue-and-wait';
export {
  type BatchReader,
  type CheckBodies,
  checkBatchHeaders,
  checkLines,
  createCheckBodies,
} from './read-batch';
export { createRejectionLog, type LogRejection, recordRejection } from './rejections';
export type { ResentLine } from './resend-lines';
export type { ClientResend } from './resend-request';
export type { Submit } from './submit';
export { type CheckBody, createCheckBody, type ValidPush } from './validate';

export interface Pushes {
  readonly submit: Submit;
  readonly resend: ClientResend;
  readonly checkBody: CheckBody;
  readonly batchReader: BatchReader;
  readonly admit: Admit;
}

/** Timeouts are in milliseconds. Body limits are in bytes. */
export interface PushSettings extends AdmissionSettings {
  readonly pushTimeout: number;
  readonly batchTimeout: number;
  readonly resendTimeout: number;
  readonly maxInFlight: number;
  readonly batchMaxItems: number;
  readonly bodyLimit: number;
  readonly batchBodyLimit: number;
  readonly concludedStatuses: readonly string[];
  readonly portalTimeZone: string;
  readonly idempotentReplay: boolean;
}

export interface PushesDependencies extends ApplyDependencies {
  readonly settings: PushSettings;
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly users: UserDirectory;
  readonly lookups: LogLookups;
  readonly bodies: Bodies;
  readonly findMended: FindMended;
  readonly logRejection: LogRejection;
  readonly newLineIds: (batchId: string, count: number) => readonly string[];
  readonly checkReady: SubmitDependencies['checkReady'];
}

export function createPushes(deps: PushesDependencies): Pushes {
  const { settings, users, lookups, database, clock } = deps;
  const monotonic = () => performance.now();
  const validator = {
    parsers: createBodyParsers({ timeZone: settings.portalTimeZone, clock }),
    concluded: new Set(settings.concludedStatuses),
    clock,
    unknownUsers: (names: readonly string[]) => database.guard(users.unknown(names)),
    similarUsers: (names: readonly string[]) => database.guard(users.similar(names)),
  };
  const checkBody = createCheckBody(validator);
  const limits = { lines: settings.batchMaxItems, bodyBytes: settings.bodyLimit };
  const batchReader = { checkBodies: createCheckBodies(validator), limits };
  const admit = createAdmit(deps.redis, deps.keys, settings);
  const batchWindow = new BatchWindow(monotonic);
  const loadShedder = new LoadShedder({
    timeout: settings.pushTimeout,
    maxInFlight: settings.maxInFlight,
    linesWaiting: () => batchWindow.linesWaiting,
    clock: monotonic,
  });
  const replays = settings.idempotentReplay;
  const submit = createSubmit({
    ...deps,
    ...batchReader,
    admit,
    checkBody,
    batchWindow,
    loadShedder,
    idempotency: createIdempotency({ lookups, database, clock, replays }),
    timeout: settings.pushTimeout,
    batchTimeout: settings.batchTimeout,
  });
  const resend = createClientResend({
    ...deps,
    ...batchReader,
    admit,
    submit,
    timeout: settings.resendTimeout,
    maxBodyBytes: settings.bodyLimit,
    maxBytes: settings.batchBodyLimit,
  });
  return { admit, checkBody, batchReader, submit, resend };
}
