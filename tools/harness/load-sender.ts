/** Sends the pushes of a load, and records the result of each. */
import type { Cluster } from './cluster';
import { USERNAMES } from './directory';
import { HttpSender, Hung, type SentAnswer, type SigningCaller, signedHeaders } from './sender';

/** Sends the next push; never rejects. */
export type Send = () => Promise<LoadAnswer>;

/** The result of one push of a load. */
export interface LoadAnswer {
  /**
   * Milliseconds of the harness' monotonic clock. In an open loop it is the time at which the push was due, so that a
   * delay of the harness counts as latency.
   */
  readonly sentAt: number;
  readonly endedAt: number;
  /**
   * `0`, `503 BACKLOG_FULL` and so on; `lost ECONNRESET` without a complete answer, `hung` without an answer in time,
   * `not JSON` for an answer that is not from the service.
   */
  readonly kind: string;
  /** Whether the answer has Retry-After, and both RateLimit headers. */
  readonly hasRetryAfter: boolean;
  readonly hasRate: boolean;
}

/**
 * Creates senders for the only web process of a cluster during some work. Each push creates a matter.
 *
 * @param work receives a function for each client that sends its next push
 * @param signal when it aborts, the run does not wait for answers
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

/** @returns a function that returns upserts of different matters, so that workers cannot fold them */
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

interface LoadSender {
  /** Sends an upsert once; never rejects. */
  send(body: string): Promise<LoadAnswer>;
  close(): void;
}

const PATH = '/api/open/matters/upsert';
/** Milliseconds for an answer: far beyond every deadline. */
const TIMEOUT = 30_000;

/** @param timeout milliseconds for an answer */
export function createLoadSender(
  url: string,
  client: SigningCaller,
  timeout = TIMEOUT,
): LoadSender {
  const sender = new HttpSender(url, timeout);
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

function toLoadAnswer({ headers, text, sentAt, endedAt }: SentAnswer): LoadAnswer {
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
