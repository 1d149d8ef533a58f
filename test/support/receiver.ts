/** A receiver of posts on this machine, such as the robot of a group chat: answers as a test says, and keeps the posts. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedPost {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** `drop` breaks the connection, and `hang` gives no answer. A function answers to what it gets. */
export type ReceiverAnswer =
  | FixedAnswer
  | ((post: ReceivedPost) => FixedAnswer | Promise<FixedAnswer>);
type FixedAnswer =
  | 'drop'
  | 'hang'
  | { readonly status?: number; readonly body?: string; readonly headers?: Record<string, string> };

export interface Receiver {
  readonly url: string;
  readonly posts: readonly ReceivedPost[];
  stop(): Promise<void>;
}

/** @param answers the answers to the posts, in order; the last one is for all further posts too */
export async function startReceiver(...answers: readonly ReceiverAnswer[]): Promise<Receiver> {
  const posts: ReceivedPost[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const { method, url: path, headers } = request;
    const post = { method, path, headers, text: await text(request) };
    posts.push(post);
    const chosen = answers[posts.length - 1] ?? answers.at(-1) ?? {};
    const answer = typeof chosen === 'function' ? await chosen(post) : chosen;
    if (answer === 'drop') response.destroy();
    else if (answer !== 'hang') {
      response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
