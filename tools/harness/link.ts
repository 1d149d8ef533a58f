/** One connection through the proxy: two sockets, and what passes between them in both ways. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the way to the server is like at this moment, for all connections together. */
export interface Conditions {
  /** Milliseconds that a chunk is late. */
  delay: number;
  readonly throttle: Throttle;
}

export class Link {
  /** Resolves when both sockets are closed. */
  readonly closed: Promise<unknown>;
  private readonly ended = new AbortController();
  private readonly sockets: readonly Socket[];
  private isCutting = false;

  constructor(
    client: Socket,
    private readonly server: Socket,
    conditions: Conditions,
  ) {
    this.sockets = [client, server];
    for (const socket of this.sockets) {
      socket.setNoDelay(true);
      socket.on('error', () => this.reset());
    }
    this.closed = Promise.all(this.sockets.map(closing));
    const { signal } = this.ended;
    const cut = (chunk: Buffer) => this.cut(chunk);
    new OneWay({ from: client, to: server, conditions, signal, cut }).start();
    new OneWay({ from: server, to: client, conditions, signal }).start();
  }

  /** Ends both sides at once, as a peer does that knows nothing of the connection. */
  reset(): void {
    this.ended.abort();
    for (const socket of this.sockets) {
      // A socket that is being opened or ended cannot be reset any more (libuv rejects).
      if (socket.connecting || socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  /** Nothing is passed on any more, and nothing is read: whoever sends fills the buffers. */
  freeze(): void {
    this.ended.abort();
    for (const socket of this.sockets) socket.pause();
  }

  /** Of the client's next chunk only the first half is passed on, then both sides are reset. */
  cutNext(): void {
    this.isCutting = true;
  }

  private cut(chunk: Buffer): boolean {
    if (!this.isCutting) return false;
    // Not before the kernel has it: a reset takes back what was not sent yet.
    this.server.write(chunk.subarray(0, chunk.length / 2), () => this.reset());
    this.ended.abort();
    return true;
  }
}

const closing = (socket: Socket) =>
  new Promise<void>((resolve) => socket.once('close', () => resolve()));

/** Bytes of one way that may wait here; beyond it nothing is read from the sender. */
const MOST_HELD = 1024 * 1024;

interface WayOptions {
  readonly from: Socket;
  readonly to: Socket;
  readonly conditions: Conditions;
  /** Ends the passing; what waits is forgotten. */
  readonly signal: AbortSignal;
  /** @returns whether the chunk was the last one, and was taken care of */
  cut?(chunk: Buffer): boolean;
}

/** Passes one way: in order, each chunk when it is due, no faster than the receiver reads. */
class OneWay {
  /** One without a chunk is the end. */
  private readonly waiting: { chunk?: Buffer; due: number }[] = [];
  private held = 0;
  private isAtWork = false;

  constructor(private readonly options: WayOptions) {}

  start(): void {
    const { from, signal } = this.options;
    from.on('data', (chunk: Buffer) => {
      if (signal.aborted) return;
      this.held += chunk.length;
      if (this.held > MOST_HELD) from.pause();
      this.add(chunk);
    });
    from.on('end', () => this.add());
  }

  private add(chunk?: Buffer): void {
    const due = performance.now() + this.options.conditions.delay;
    this.waiting.push({ ...(chunk && { chunk }), due });
    // It only fails where the connection is over.
    this.work().catch(() => undefined);
  }

  /** Without a wait to be made it passes all on at once. */
  private async work(): Promise<void> {
    const { from, to, signal, cut } = this.options;
    if (this.isAtWork) return;
    this.isAtWork = true;
    for (let next = this.waiting.shift(); next && !signal.aborted; next = this.waiting.shift()) {
      const early = next.due - performance.now();
      if (early > 0) await sleep(early, undefined, { signal });
      if (!next.chunk) to.end();
      else if (cut?.(next.chunk)) return;
      else {
        await this.deliver(next.chunk);
        this.held -= next.chunk.length;
        if (this.held <= MOST_HELD / 2 && from.isPaused()) from.resume();
      }
    }
    this.isAtWork = false;
  }

  private async deliver(chunk: Buffer): Promise<void> {
    const { to, conditions, signal } = this.options;
    for (const piece of conditions.throttle.pieces(chunk)) {
      const wait = conditions.throttle.take(piece.length);
      if (wait > 0) await sleep(wait, undefined, { signal });
      if (!to.write(piece)) await once(to, 'drain', { signal });
    }
  }
}

/** Milliseconds of the whole rate that one piece may take. */
const PIECE = 20;

/** A bound on bytes per second that many connections share. */
export class Throttle {
  private rate: number | undefined;
  private freeAt = 0;

  /** Bytes per second; undefined: no bound. */
  setRate(bytesPerSecond: number | undefined): void {
    this.rate = bytesPerSecond;
    this.freeAt = 0;
  }

  /** Cuts a chunk so finely that one connection does not keep the others waiting. */
  pieces(chunk: Buffer): Buffer[] {
    if (this.rate === undefined) return [chunk];
    const size = Math.max(1, Math.round((this.rate * PIECE) / 1_000));
    const count = Math.ceil(chunk.length / size);
    return Array.from({ length: count }, (_, n) => chunk.subarray(n * size, (n + 1) * size));
  }

  /**
   * Takes the bytes' share of time, behind everything that was taken before.
   *
   * @returns milliseconds until they may go
   */
  take(bytes: number): number {
    if (this.rate === undefined) return 0;
    const now = performance.now();
    this.freeAt = Math.max(now, this.freeAt) + (bytes / this.rate) * 1_000;
    return this.freeAt - now;
  }
}
