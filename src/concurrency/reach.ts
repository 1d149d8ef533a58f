/** Whether this process reaches a server, as its pings tell; and calls that end once it does not. */
import { type PingState, type Pings, startPings } from './pings';

export interface Reach {
  /** Since the process has noticed that it does not reach the server, and until it does again. */
  isLost(): boolean;
  /**
   * Ends a call that hangs: without it the call ends at its own deadline.
   *
   * @returns what the call comes to; later it is dropped, success or failure
   * @throws Error once the process notices that it does not reach the server
   */
  guard<T>(call: Promise<T>): Promise<T>;
}

export interface ReachOptions {
  /** A round trip to the server. */
  readonly ping: () => Promise<unknown>;
  readonly onLost: (error: string) => void;
  readonly onBack: () => void;
  /** Called after each ping that failed, from the loss on. */
  readonly whileLost?: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Milliseconds between two pings, and in which a ping must be answered: a slow server is not lost. */
const INTERVAL = 1_000;
const TIMEOUT = 1_000;
/** Milliseconds in which no ping was answered: restarts, elections and the stalls of a busy machine take less. */
const LOST_AFTER = 5_000;

/** Pings until it is stopped. */
export function watchReach(options: ReachOptions): Reach & Pick<Pings, 'stop'> {
  const { ping, whileLost, onError } = options;
  const reach = new PingedReach(options);
  const pings = startPings({
    ping,
    timeout: TIMEOUT,
    interval: INTERVAL,
    onPing: async (state) => {
      reach.judge(state);
      if (reach.isLost()) await whileLost?.();
    },
    onError,
  });
  return {
    isLost: () => reach.isLost(),
    guard: (call) => reach.guard(call),
    stop: pings.stop,
  };
}

class PingedReach implements Reach {
  private lost: Error | undefined;
  /** What ends the calls under way. */
  private readonly enders = new Set<(error: Error) => void>();

  constructor(private readonly options: Pick<ReachOptions, 'onLost' | 'onBack'>) {}

  judge({ failures, failingSince, error }: PingState): void {
    if (failingSince === undefined) {
      if (this.lost) this.options.onBack();
      this.lost = undefined;
    } else if (!this.lost && failures > 1 && performance.now() - failingSince >= LOST_AFTER) {
      this.lost = new Error(`not reached for ${LOST_AFTER} ms: ${error}`);
      this.options.onLost(error);
      for (const end of this.enders) end(this.lost);
    }
  }

  isLost(): boolean {
    return this.lost !== undefined;
  }

  guard<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.lost) reject(this.lost);
      else this.enders.add(reject);
      const ended = () => this.enders.delete(reject);
      call.then(resolve, reject).then(ended, ended);
    });
  }
}
