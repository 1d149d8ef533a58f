/** What sends the lines of a run, and what a try leaves. */
import type { BatchVerdict } from '../../client/batch-verdict';
import type { Gate } from '../../client/gate';
import type { Sender } from '../../client/sender';
import type { OutgoingPush } from '../../client/try-pushes';
import type { FileLine } from './file-line';
import type { Pace } from './pace';
import type { LineEnds } from './push-work';
import type { Standstill } from './standstill';
import type { Tally } from './tally';
import type { PostReader, Pushing, ServiceState, WaitTeller } from './waits';

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
  readonly teller: WaitTeller;
  readonly tally: Tally;
  readonly ends: LineEnds;
  /** Most tries after the first that fail for what may lie in the line. */
  readonly retries: number;
  /** Milliseconds that a line may wait for the service. */
  readonly maxWait: number;
  readonly askService: () => Promise<ServiceState>;
  readonly askByPost: () => Promise<PostReader>;
  /** Begins nothing new. */
  readonly stop: AbortSignal;
  /** Cuts off what is under way. */
  readonly cut: AbortSignal;
}

/** What a try has left: lines to be sent again, and after how many milliseconds. */
export interface Left {
  readonly again: readonly FileLine[];
  readonly wait: number;
}
