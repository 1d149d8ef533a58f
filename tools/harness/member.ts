/** A process of a cluster, server or our own: it may be killed, and comes back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { failureWithLog } from '../local/log-file';
import type { ExitReason } from '../local/process-guard';
import { Stopped } from '../local/waiting';

export interface Member {
  /** `web-0`, `worker-1`, `redis`, `mongo`. */
  readonly name: string;
  /** Undefined while it does not run. */
  pid(): number | undefined;
  /** An end by SIGKILL or SIGTERM that was sent here is meant, and no crash. */
  kill(signal: NodeJS.Signals): void;
  /**
   * Ends it, cleanly where it still runs, and starts it again. Resolves when it serves.
   *
   * @throws Error with the end of its log where it does not: an app within a minute, a server that
   *   replays its log has longer
   */
  restart(): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

/** What every start needs. */
export interface Ground {
  /** The project's folder. */
  readonly root: string;
  /** For data and logs. */
  readonly folder: string;
  /** Told of an end that nobody ordered, with the end of its log; it is started again then. */
  crashed(what: string): void;
  /** No new start after this. */
  readonly signal: AbortSignal;
}

interface MemberOptions extends Pick<Ground, 'crashed' | 'signal'> {
  readonly name: string;
  readonly logFile: string;
  /** Starts it and resolves once it serves; always with the same port and data. */
  launch(): Promise<Runnable>;
}

interface Runnable {
  readonly pid?: number;
  readonly exited: Promise<ExitReason>;
  kill(signal: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** Starts it; @throws where its first start fails */
export async function startMember(options: MemberOptions): Promise<Member> {
  return new RestartedProcess(options, await options.launch());
}

class RestartedProcess implements Member {
  readonly name: string;
  private running: Runnable | undefined;
  /** Whether its end was ordered here. */
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
    void next.exited.then((how) => {
      this.running = undefined;
      if (this.isMeant || signal.aborted) return;
      crashed(failureWithLog(`${name} ended with ${how}`, logFile).message);
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
    // A stopped process does not hear a SIGTERM.
    this.running?.kill('SIGCONT');
    await this.running?.stop();
  }
}

/** Milliseconds for a start: one fails where another fault keeps it from its servers. */
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
