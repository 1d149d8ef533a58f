/** Counts each push as its caller is answered, also one that is shed and never recorded. */
import type { Clock } from '../concurrency/clock';
import { PushError } from '../protocol/errors';
import type { EndedPush, PushCounts } from '../storage/push-log/push-counts';

/** What is counted of a request. */
interface CountedRequest extends Pick<EndedPush, 'operation' | 'receivedAt'> {
  readonly caller: Pick<EndedPush, 'clientId' | 'systemCode'>;
}

interface Accepted {
  readonly data: { readonly outcome: string };
  /** The outcome of an earlier push was repeated. */
  readonly replayed: boolean;
}

/** Runs one push and counts what it came to. @param isRecorded whether the log has it, asked at its end */
export async function counted<T extends Accepted>(
  { counts, clock }: { readonly counts: PushCounts; readonly clock: Clock },
  request: CountedRequest,
  accept: () => Promise<T>,
  isRecorded: () => boolean,
): Promise<T> {
  const end = (result: string) => {
    const push = endedPush(request, result);
    counts.ended(push, clock() - request.receivedAt);
    if (!isRecorded()) counts.unrecorded(push);
  };
  try {
    const accepted = await accept();
    end(accepted.replayed ? 'REPLAYED' : accepted.data.outcome);
    return accepted;
  } catch (error) {
    end(error instanceof PushError ? error.reason : 'INTERNAL_ERROR');
    throw error;
  }
}

export function endedPush(request: CountedRequest, result: string): EndedPush {
  const { operation, receivedAt } = request;
  const { clientId, systemCode } = request.caller;
  return { clientId, systemCode, operation, result, receivedAt };
}
