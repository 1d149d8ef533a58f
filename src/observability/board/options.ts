/** What a process needs to know of the queue board. */
import type { RequestListener } from 'node:http';

/** Everything of it lies at this path and below, on the internal port. */
export const BOARD_PATH = '/queues';

export interface Board {
  /** Answers every request at BOARD_PATH and below, within seconds. */
  readonly answer: RequestListener;
  close(): Promise<void>;
}
