/** One try of some pushes: several as one batch, one alone as a push of its own. */
import type { OperationName } from '../../src/domain/operation';
import { BATCH_PATH, pushPath, queryPath, VERIFY_BATCH } from '../../src/protocol/paths';
import { type BatchVerdict, judgeBatch, judgeVerified } from './batch-verdict';
import { confirmsPush } from './confirmations';
import { isFromElsewhere } from './error';
import type { OutgoingRequest, Sender } from './sender';
import { isElsewhereForAll, judge, noAnswer, type Rejected } from './verdict';

export interface OutgoingPush {
  readonly operation: OperationName;
  /** JSON without a line feed, where it goes with others. */
  readonly body: Buffer;
  /** Its X-Idempotency-Key. */
  readonly idempotencyKey: string;
}

/** A batch may have a key once for each operation. */
export const onceInBatch = ({ operation, idempotencyKey }: OutgoingPush) =>
  `${operation} ${idempotencyKey}`;

/** How many times as long as a single push a batch may take: the service's own bound is longer too. */
const BATCH_TIME = 2;
/** Bytes of a line that are neither body nor key, at most. */
const AROUND = 40;

/** Bytes that a push takes of a batch. */
export const sizeInBatch = ({ body, idempotencyKey }: OutgoingPush) =>
  body.length + idempotencyKey.length + AROUND;

/**
 * Sends them once, in their order, signed with a fresh timestamp.
 *
 * @param cut aborted: the answer is not waited for any more
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

/** A dry run of them, of one alone too: the service checks each as it would be checked, and writes nothing. */
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

/** Of the service itself, about all lines alike: who signed, how much is asked, what is away. */
const OF_ALL = [401, 403, 429, 503, 504];
const OF_A_GATEWAY = ['HTTP_429', 'HTTP_502', 'HTTP_503', 'HTTP_504'];
/** Nobody is there: it lies in the address or the network. */
export const UNREACHABLE = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
];

/** Whether a batch may have been rejected for one of its lines: then its halves are sent. */
export function mayLieInOneLine(whole: Rejected): boolean {
  const { code, reason } = whole;
  if (UNREACHABLE.includes(reason) || isElsewhereForAll(whole)) return false;
  return isFromElsewhere(whole) ? !OF_A_GATEWAY.includes(reason) : !OF_ALL.includes(code);
}

/** Whether a service of an older version answered, which takes no batches. */
export const takesNoBatches = ({ reason }: Rejected) =>
  reason === 'PATH_NOT_FOUND' || reason === 'METHOD_NOT_ALLOWED';

/** Whether the service takes fewer lines than were sent. */
export const hasTooManyLines = ({ reason }: Rejected) => reason === 'TOO_MANY_LINES';

/** Whether a batch took too long to arrive, or its answer to come: it may have been too large, whatever is in it. */
export const tookTooLong = ({ reason }: Rejected) => TOO_LONG.includes(reason);

/** Whether it has more bytes than the service, or a gateway before it, takes: a line alone is told so by itself. */
export const hasTooManyBytes = (whole: Rejected) => whole.code === 413 && !hasTooManyLines(whole);

const TOO_LONG = ['REQUEST_TIMEOUT', 'HTTP_408', 'HTTP_504', 'NO_ANSWER_IN_TIME'];

/** Bytes of a batch: half of what the service takes by default. */
export const BATCH_BYTES = 4 * 1024 * 1024;

/** Bytes that they take of a batch. */
export const batchBytesOf = (lines: readonly { readonly size: number }[]) =>
  lines.reduce((sum, { size }) => sum + size, 0);

/** Of lines, or bytes, of a batch that was rejected: so many may go together from then on. */
export const halfOf = (lines: number) => Math.ceil(lines / 2);
