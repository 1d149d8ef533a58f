/** A process of a cluster, a server or a process of the service, that can be killed and restarted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { failureWithLog } from '../local/log-file';
import type { ExitReason } from '../local/process-guard';
import { Stopped } from '../local/waiting';

export interface Member {
  /** `web-0`, `worker-1`, `redis`, `mongo`. */
  readonly name: string;
  /** Undefined while it does not run. */
  pid(): number | undefined;
  /** After a SIGKILL or SIGTERM from here, the end of the process does not count as a crash. */
  kill(signal: NodeJS.Signals): void;
  /**
   * Stops the process if it runs, and starts it again. Resolves when it serves.
   *
   * @throws Error with the end of its log if it does not start: a process of the service within a minute, a server that
   *   replays its log has longer
   */
  restart(): Promise<void>;
  /** Stops it without a restart. */
  stop(): Promise<void>;
}

/** The environment of every start. */
export interface Ground {
  /** The project's folder. */
  readonly root: string;
  /** For data and logs. */
  readonly folder: string;
  /** Called when a process ends without a kill, with the end of its log. The process is then restarted. */
  crashed(what: string): void;
  /** After its abort no process starts. */
  readonly signal: AbortSignal;
}

interface MemberOptions extends Pick<Ground, 'crashed' | 'signal'> {
  readonly name: string;
  readonly logFile: string;
  /** Starts it, always with the same port and data, and resolves when it serves. */
  launch(): Promise<Runnable>;
}

interface Runnable {
  readonly pid?: number;
  readonly exited: Promise<ExitReason>;
  kill(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/**
 * Starts a process. A process of the service ends if a server does not answer in time, so its start is repeated, as an
 * orchestrator would.
 *
 * @throws the error of the last start if the process does not start within a minute
 */
export async function startMember(options: MemberOptions): Promise<Member> {
  return new RestartedProcess(options, await launchPatiently(options));
}

class RestartedProcess implements Member {
  readonly name: string;
  private running: Runnable | undefined;
  /** Whether its end was caused by `kill`, `restart` or `stop`. */
  private isMeant = false;
  private coming: Promise<void> | undefined;

  constructor(
    private readonly options: MemberOptions,
    first: Runnable,
  ) {
    this.name = options.name;
    this.watch(first);
  }

  pid(): number | undefined {
    return this.running?.pid;
  }

  kill(signal: NodeJS.Signals): void {
    this.isMeant ||= signal === 'SIGKILL' || signal === 'SIGTERM';
    this.running?.kill(signal);
  }

  async restart(): Promise<void> {
    if (!this.coming) await this.end();
    await this.comeBack();
  }

  async stop(): Promise<void> {
    await this.coming?.catch(() => undefined);
    await this.end();
  }

  private watch(next: Runnable): void {
    const { name, logFile, crashed, signal } = this.options;
    this.running = next;
    this.isMeant = false;
    void next.exited.then((reason) => {
      this.running = undefined;
      if (this.isMeant || signal.aborted) return;
      crashed(failureWithLog(`${name} ended with ${reason}`, logFile).message);
      this.comeBack().catch((error) => crashed(String(error)));
    });
  }

  private comeBack(): Promise<void> {
    this.coming ??= launchPatiently(this.options)
      .then((next) => this.watch(next))
      .finally(() => {
        this.coming = undefined;
      });
    return this.coming;
  }

  private async end(): Promise<void> {
    this.isMeant = true;
    // A stopped process does not handle SIGTERM.
    this.running?.kill('SIGCONT');
    await this.running?.stop();
  }
}

/** Milliseconds for a start, which fails while another fault makes its servers unavailable. */
const START_TIMEOUT = 60_000;
const BETWEEN_STARTS = 300;

async function launchPatiently({ launch, signal }: MemberOptions): Promise<Runnable> {
  const until = performance.now() + START_TIMEOUT;
  for (;;) {
    if (signal.aborted) throw new Stopped();
    try {
      return await launch();
    } catch (error) {
      if (signal.aborted || performance.now() > until) throw error;
      await sleep(BETWEEN_STARTS);
    }
  }
}
