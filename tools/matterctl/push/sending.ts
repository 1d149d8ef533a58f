/** The parts that send the lines of a run, and the result of one attempt. */
import type { BatchVerdict } from '../../client/batch-verdict';
import type { Gate } from '../../client/gate';
import type { Sender } from '../../client/sender';
import type { OutgoingPush } from '../../client/try-pushes';
import type { FileLine } from './file-line';
import type { Pace } from './pace';
import type { LineEnds } from './push-work';
import type { Standstill } from './standstill';
import type { PushTally } from './tally';
import type { PostReader, Pushing, ServiceState, WaitReporter } from './waits';

export type TryPushes = (
  pushes: readonly OutgoingPush[],
  sender: Sender,
  cut: AbortSignal,
) => Promise<BatchVerdict>;

export interface Sending extends Pushing {
  readonly tryPushes: TryPushes;
  readonly sender: Sender;
  readonly gate: Gate;
  readonly pace: Pace;
  readonly standstill: Standstill;
  readonly reporter: WaitReporter;
  readonly tally: PushTally;
  readonly ends: LineEnds;
  /** Maximum retries of a line if the line itself may be the cause of the failures. */
  readonly retries: number;
  /** Milliseconds that a line may wait for the service. */
  readonly maxWait: number;
  readonly checkService: () => Promise<ServiceState>;
  readonly checkPost: () => Promise<PostReader>;
  /** After its abort, no further batch is sent. */
  readonly stop: AbortSignal;
  /** Its abort ends the requests that wait for an answer. */
  readonly cut: AbortSignal;
}

/** The lines to send again after an attempt, and the milliseconds to wait before. */
export interface Remaining {
  readonly again: readonly FileLine[];
  readonly wait: number;
}
