/** A batch that cannot be read at all is rejected as a whole, and recorded as a push with a wrong body is. */
import { PushError, type RateState } from '../protocol/errors';
import {
  admit,
  endedPush,
  type LetInDependencies,
  left,
  logRejection,
  type Submission,
  takePermit,
} from './let-in';
import { entryOf, rejectedEntry } from './log-entry';
import { type RecordDependencies, recordPushes } from './record-pushes';

/** A batch as its own request: it counts as one push. */
interface WholeBatch extends Submission {
  readonly request: Submission['request'] & {
    readonly admitted: (rate: RateState | undefined) => void;
  };
}

/** Bytes of such a body that are kept: a batch may be large, and be sent again as it is. */
const MAX_BODY = 16 * 1024;

/**
 * Once it is answered its entry is found by the requestId of the answer.
 *
 * @param error what is wrong with it
 * @throws PushError always: `error`, or why it is not let in or not recorded
 */
export async function rejectBatch(
  deps: LetInDependencies & RecordDependencies,
  whole: WholeBatch,
  error: PushError,
): Promise<never> {
  const { request } = whole;
  const permit = takePermit(deps, whole);
  try {
    request.admitted(await admit(deps, whole));
    const entry = rejectedEntry(entryOf(request, deps.timeout), error, deps.clock());
    const isKept = request.rawBody.length <= MAX_BODY;
    const body = isKept ? request.rawBody : undefined;
    const failure = (await recordPushes(deps, [{ entry, body }], left(deps, whole))).get(entry);
    if (failure) throw failure;
    whole.isInLog = true;
    throw error;
  } finally {
    permit.release(0);
  }
}

/**
 * A batch that is rejected as a whole counts as its lines, where they were read: of which operations they are nobody
 * has looked. If it has an entry in the log, that stands for all of them.
 */
export function countRejection(deps: LetInDependencies, batch: Submission, error: unknown): void {
  if (!batch.isInLog) logRejection(deps, batch, error);
  const reason = error instanceof PushError ? error.reason : 'INTERNAL_ERROR';
  const ended = endedPush(batch.request, reason);
  deps.counts.ended(ended, deps.clock() - batch.request.receivedAt, batch.pushes);
}
