/** One connection through the proxy: two sockets, and what passes between them in both ways. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Throttle } from './throttle';

/** What the way to the server is like at this moment, for all connections together. */
export interface Conditions {
  /** Milliseconds that a chunk is late. */
  delay: number;
  readonly throttle: Throttle;
}

export interface Link {
  /** Ends both sides at once, as a peer does that knows nothing of the connection. */
  reset(): void;
  /** Nothing is passed on any more, and nothing is read: whoever sends fills the buffers. */
  freeze(): void;
  /** Of the client's next chunk only the first half is passed on, then both sides are reset. */
  cutNext(): void;
  /** Resolves when both sockets are closed. */
  readonly closed: Promise<unknown>;
}

/** Bytes of one way that may wait here; beyond it nothing is read from the sender. */
const MOST_HELD = 1024 * 1024;

export function linkSockets(client: Socket, server: Socket, net: Conditions): Link {
  const ended = new AbortController();
  const sockets = [client, server];
  const reset = () => {
    ended.abort();
    for (const socket of sockets) {
      // A socket that is being opened or ended cannot be reset any more (libuv rejects).
      if (socket.connecting || socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  };
  const freeze = () => {
    ended.abort();
    for (const socket of sockets) socket.pause();
  };
  let cutting = false;
  const cut = (chunk: Buffer): boolean => {
    if (!cutting) return false;
    // Not before the kernel has it: a reset takes back what was not sent yet.
    server.write(chunk.subarray(0, chunk.length / 2), reset);
    ended.abort();
    return true;
  };
  for (const socket of sockets) {
    socket.setNoDelay(true);
    socket.on('error', reset);
  }
  pass({ from: client, to: server, net, signal: ended.signal, cut });
  pass({ from: server, to: client, net, signal: ended.signal });
  const closed = Promise.all(
    sockets.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))),
  );
  const cutNext = () => {
    cutting = true;
  };
  return { reset, freeze, closed, cutNext };
}

interface Way {
  readonly from: Socket;
  readonly to: Socket;
  readonly net: Conditions;
  /** Ends the passing; what waits is forgotten. */
  readonly signal: AbortSignal;
  /** @returns whether the chunk was the last one, and was taken care of */
  cut?(chunk: Buffer): boolean;
}

/** Passes one way: in order, each chunk when it is due, no faster than the receiver reads. */
function pass(way: Way): void {
  const { from, to, net, signal } = way;
  const waiting: { chunk?: Buffer; due: number }[] = [];
  let held = 0;
  let atWork = false;
  // Without a wait to be made it passes all on at once.
  const work = async () => {
    if (atWork) return;
    atWork = true;
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) {
      const early = next.due - performance.now();
      if (early > 0) await sleep(early, undefined, { signal });
      if (!next.chunk) to.end();
      else if (way.cut?.(next.chunk)) return;
      else {
        await deliver(next.chunk, way);
        held -= next.chunk.length;
        if (held <= MOST_HELD / 2 && from.isPaused()) from.resume();
      }
    }
    atWork = false;
  };
  const add = (chunk?: Buffer) => {
    waiting.push({ chunk, due: performance.now() + net.delay });
    // It only fails where the connection is over.
    work().catch(() => undefined);
  };
  from.on('data', (chunk: Buffer) => {
    if (signal.aborted) return;
    held += chunk.length;
    if (held > MOST_HELD) from.pause();
    add(chunk);
  });
  from.on('end', () => add());
}

async function deliver(chunk: Buffer, { to, net: { throttle }, signal }: Way): Promise<void> {
  for (const piece of throttle.pieces(chunk)) {
    const wait = throttle.take(piece.length);
    if (wait > 0) await sleep(wait, undefined, { signal });
    if (!to.write(piece)) await once(to, 'drain', { signal });
  }
}
