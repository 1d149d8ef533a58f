/** The pushes of a load: who sends them, and what became of each. */
import type { Cluster } from './cluster';
import { USERNAMES } from './directory';
import { type Answer, type Caller, Hung, Sender, signedHeaders } from './sender';

/** Sends the next push; never rejects. */
export type Send = () => Promise<LoadAnswer>;

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
