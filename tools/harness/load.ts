/** Two ways to put a load on the service: as fast as it answers, or at fixed times whatever it does. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster';
import { USERNAMES } from './directory';
import { type Answer, type Caller, Hung, Sender, signedHeaders } from './sender';

export type Send = () => Promise<LoadAnswer>;

/** What was seen of one spell of load. Times as in the answers. */
export interface Spell {
  readonly from: number;
  /** The end of the arrivals; the last answers came later. */
  readonly to: number;
  readonly answers: readonly LoadAnswer[];
  /** Arrivals that were not sent, since too many were under way already. */
  readonly unsent: number;
  /** How late the harness itself was at its own work, milliseconds: part of every latency. */
  readonly ownDelay: { readonly p99: number; readonly max: number };
}

/** Each connection sends its next push when the last one is answered. `duration` in milliseconds. */
export function closedLoop(
  send: Send,
  { connections, duration, signal }: SpellOptions & { readonly connections: number },
): Promise<Spell> {
  return observe(async (keep) => {
    const end = performance.now() + duration;
    const connection = async () => {
      while (performance.now() < end && !signal?.aborted) keep(await send());
    };
    await Promise.all(Array.from({ length: connections }, connection));
    return { to: end, unsent: 0 };
  });
}

interface SpellOptions {
  /** Milliseconds. */
  readonly duration: number;
  readonly signal?: AbortSignal;
}

interface OpenLoopOptions extends SpellOptions {
  /** Arrivals per second. */
  readonly rate: number;
  /** Pushes under way, each on its own connection, beyond which an arrival is not sent. */
  readonly most: number;
}

/**
 * Arrivals at fixed times, whatever comes back. Resolves when all of them are answered. A latency
 * begins when its push was due, not when the harness got round to it.
 */
export function openLoop(
  send: Send,
  { rate, duration, most, signal }: OpenLoopOptions,
): Promise<Spell> {
  return observe(async (keep) => {
    const from = performance.now();
    const underWay = new Set<Promise<void>>();
    let arrived = 0;
    let unsent = 0;
    /** Of the next arrival, milliseconds after the first one. */
    const due = () => (arrived * 1_000) / rate;
    const arrive = () => {
      const sentAt = from + due();
      arrived += 1;
      if (underWay.size >= most) {
        unsent += 1;
        return;
      }
      const push = send().then((answer) => {
        keep({ ...answer, sentAt });
        underWay.delete(push);
      });
      underWay.add(push);
    };
    for (let passed = 0; passed < duration; ) {
      signal?.throwIfAborted();
      passed = performance.now() - from;
      // However late the harness is, none is left out.
      while (due() <= passed && due() < duration) arrive();
      await sleep(1);
    }
    const to = performance.now();
    await Promise.all(underWay);
    return { to, unsent };
  });
}

/** Milliseconds between two looks at how late the harness is. */
const LOOK = 1;

async function observe(
  work: (keep: (answer: LoadAnswer) => void) => Promise<Pick<Spell, 'to' | 'unsent'>>,
): Promise<Spell> {
  const answers: LoadAnswer[] = [];
  const own = monitorEventLoopDelay({ resolution: LOOK });
  own.enable();
  const from = performance.now();
  try {
    const { to, unsent } = await work((answer) => answers.push(answer));
    // It counts the wait for its own timer too, and in nanoseconds.
    const late = (ns: number) => Math.max(0, ns / 1e6 - LOOK);
    const ownDelay = { p99: late(own.percentile(99)), max: late(own.max) };
    return { from, to, answers, unsent, ownDelay };
  } finally {
    own.disable();
  }
}

/** What became of one push of a load. */
export interface LoadAnswer {
  /**
   * Milliseconds of the harness' own monotonic clock. Where pushes arrive at fixed times, it is the
   * time at which it was due: whoever is late with sending makes its caller wait too.
   */
  readonly sentAt: number;
  readonly endedAt: number;
  /**
   * `0`, `503 BACKLOG_FULL` and so on; `lost ECONNRESET` where no whole answer came, `hung` where
   * none came in time, `not JSON` where it is none of the service.
   */
  readonly kind: string;
  /** The header Retry-After; both headers of the rate. */
  readonly hasRetryAfter: boolean;
  readonly hasRate: boolean;
}

interface LoadSender {
  /** Sends an upsert once; never rejects. */
  send(body: string): Promise<LoadAnswer>;
  close(): void;
}

const PATH = '/api/open/matters/upsert';
/** Milliseconds for an answer: far beyond every deadline. */
const TIMEOUT = 30_000;

/** @param timeout milliseconds for an answer */
export function createLoadSender(url: string, client: Caller, timeout = TIMEOUT): LoadSender {
  const sender = new Sender(url, timeout);
  return {
    send: async (body) => {
      const bytes = Buffer.from(body);
      const startedAt = performance.now();
      try {
        return toLoadAnswer(await sender.post(PATH, signedHeaders(client, bytes), bytes));
      } catch (error) {
        const kind = kindOfFailure(error);
        const times = { sentAt: startedAt, endedAt: performance.now() };
        return { ...times, kind, hasRetryAfter: false, hasRate: false };
      }
    },
    close: () => sender.close(),
  };
}

function toLoadAnswer({ headers, text, sentAt, endedAt }: Answer): LoadAnswer {
  return {
    ...{ sentAt, endedAt, kind: kindOf(text) },
    hasRetryAfter: headers['retry-after'] !== undefined,
    hasRate: headers.ratelimit !== undefined && headers['ratelimit-policy'] !== undefined,
  };
}

function kindOf(text: string): string {
  try {
    const { code, reason } = JSON.parse(text);
    return code === 0 ? '0' : `${code} ${reason}`;
  } catch {
    return 'not JSON';
  }
}

function kindOfFailure(error: unknown): string {
  if (error instanceof Hung) return 'hung';
  const { code, message } = error as NodeJS.ErrnoException;
  return `lost ${code ?? message}`;
}

/**
 * A load on the one web process of a cluster for as long as a piece of work takes: pushes of all its
 * clients, each on a matter of its own.
 *
 * @param work gets what sends the next push of each client
 * @param signal aborted: nobody waits for the answers of a run that is given up
 */
export async function withSends<T>(
  { webs: [web], clients }: Pick<Cluster, 'webs' | 'clients'>,
  signal: AbortSignal | undefined,
  work: (sends: readonly Send[]) => Promise<T>,
): Promise<T> {
  if (!web) throw new Error('the cluster has no web process');
  const next = createPushes();
  const senders = clients.map((client) => createLoadSender(web.url, client));
  const close = () => {
    for (const sender of senders) sender.close();
  };
  signal?.addEventListener('abort', close);
  try {
    return await work(senders.map((sender) => () => sender.send(next())));
  } finally {
    signal?.removeEventListener('abort', close);
    close();
  }
}

/** Characters: a to-do with a few sentences. */
const CONTENT = 'A few sentences about what is to be done. '.repeat(6);

/** @returns bodies of upserts that all create a matter: no two of them can share their work */
function createPushes(): () => string {
  let made = 0;
  return () => {
    made += 1;
    const username = USERNAMES[made % USERNAMES.length];
    return JSON.stringify({
      externalId: `LOAD-${made}`,
      matterType: 'TODO',
      title: `load ${made}`,
      content: CONTENT,
      parties: [{ username, partyRole: 'ASSIGNEE' }],
    });
  };
}
