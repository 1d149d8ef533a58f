/** Sends pushes once: several pushes as a batch, one push as a single push. */
import type { OperationName } from '../../src/domain/operation';
import { BATCH_PATH, pushPath, queryPath, VERIFY_BATCH } from '../../src/protocol/paths';
import { type BatchVerdict, judgeBatch, judgeVerified } from './batch-verdict';
import { confirmsPush } from './confirmations';
import { isFromElsewhere } from './error';
import type { OutgoingRequest, Sender } from './sender';
import { isElsewhereForAll, judge, noAnswer, type Rejected } from './verdict';

export interface OutgoingPush {
  readonly operation: OperationName;
  /** JSON. In a batch it must contain no line feed. */
  readonly body: Buffer;
  /** The idempotency key of the push. */
  readonly idempotencyKey: string;
}

/** In a batch, a key must be unique within an operation. */
export const onceInBatch = ({ operation, idempotencyKey }: OutgoingPush) =>
  `${operation} ${idempotencyKey}`;

/** Factor for the timeout of a batch, because the service's BATCH_TIMEOUT is longer than its PUSH_TIMEOUT. */
const BATCH_TIME = 2;
/** Maximum bytes of a line in addition to its body and key. */
const AROUND = 40;

/** Bytes of a push in a batch. */
export const sizeInBatch = ({ body, idempotencyKey }: OutgoingPush) =>
  body.length + idempotencyKey.length + AROUND;

/**
 * Sends pushes once, in order, with a new timestamp.
 *
 * @param cut aborted: the request is cancelled
 */
export async function tryPushes(
  pushes: readonly OutgoingPush[],
  sender: Sender,
  cut?: AbortSignal,
): Promise<BatchVerdict> {
  const [first] = pushes;
  if (first && pushes.length === 1) {
    const { operation, body, idempotencyKey } = first;
    const request = { path: pushPath(operation), body, idempotencyKey };
    const verdict = await sender
      .send(request, cut)
      .then((answer) => judge(answer, confirmsPush), noAnswer);
    return { lines: [verdict] };
  }
  return sender.send(batchOf(pushes, BATCH_PATH), cut).then(
    (answer) => judgeBatch(answer, pushes.length),
    (error) => ({ whole: noAnswer(error) }),
  );
}

/** A dry run of one or more pushes: the service checks each push as usual and writes nothing. */
export function verifyPushes(
  pushes: readonly OutgoingPush[],
  sender: Sender,
  cut?: AbortSignal,
): Promise<BatchVerdict> {
  return sender.send(batchOf(pushes, queryPath(VERIFY_BATCH)), cut).then(
    (answer) => judgeVerified(answer, pushes.length),
    (error) => ({ whole: noAnswer(error) }),
  );
}

function batchOf(pushes: readonly OutgoingPush[], path: string): OutgoingRequest {
  const parts: Buffer[] = [];
  for (const { operation, body, idempotencyKey } of pushes) {
    parts.push(Buffer.from(`{"op":"${operation}","key":${JSON.stringify(idempotencyKey)},"body":`));
    parts.push(body, END);
  }
  const body = Buffer.concat(parts);
  return { path, body, idempotencyKey: undefined, patience: BATCH_TIME };
}

const END = Buffer.from('}\n');

/** Codes of the service that concern all lines alike: authentication, rate and unavailable servers. */
const OF_ALL = [401, 403, 429, 503, 504];
const OF_A_GATEWAY = ['HTTP_429', 'HTTP_502', 'HTTP_503', 'HTTP_504'];
/** Errors of the system that mean a wrong address or a network failure. */
export const UNREACHABLE = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
];

/** Whether one line may have caused the rejection of the whole batch. The client then sends smaller batches. */
export function mayLieInOneLine(whole: Rejected): boolean {
  const { code, reason } = whole;
  if (UNREACHABLE.includes(reason) || isElsewhereForAll(whole)) return false;
  return isFromElsewhere(whole) ? !OF_A_GATEWAY.includes(reason) : !OF_ALL.includes(code);
}

/** Whether the service is of an older version, which accepts no batches. */
export const takesNoBatches = ({ reason }: Rejected) =>
  reason === 'PATH_NOT_FOUND' || reason === 'METHOD_NOT_ALLOWED';

/** Whether the batch had more lines than the service accepts. */
export const hasTooManyLines = ({ reason }: Rejected) => reason === 'TOO_MANY_LINES';

/** Whether the batch or its answer took too long. The cause may be the size of the batch. */
export const tookTooLong = ({ reason }: Rejected) => TOO_LONG.includes(reason);

/** Whether the batch had more bytes than the service, or a gateway in front of it, accepts. */
export const hasTooManyBytes = (whole: Rejected) => whole.code === 413 && !hasTooManyLines(whole);

const TOO_LONG = ['REQUEST_TIMEOUT', 'HTTP_408', 'HTTP_504', 'NO_ANSWER_IN_TIME'];

/** Maximum bytes of a batch: half of the service's default limit. */
export const BATCH_BYTES = 4 * 1024 * 1024;

/** Bytes of several pushes in a batch. */
export const batchBytesOf = (lines: readonly { readonly size: number }[]) =>
  lines.reduce((sum, { size }) => sum + size, 0);

/** The next limit after a rejected batch, for lines or bytes. */
export const halfOf = (lines: number) => Math.ceil(lines / 2);
