/** One connection through the proxy: two sockets, and the data between them in both directions. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The current conditions of all connections to the server. */
export interface Conditions {
  /** Milliseconds by which each chunk is delayed. */
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

  /** Resets both sides, like a peer that does not know the connection. */
  reset(): void {
    this.ended.abort();
    for (const socket of this.sockets) {
      // libuv rejects the reset of a socket that is connecting or has ended.
      if (socket.connecting || socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  /** Forwards and reads nothing, so that the sender fills the buffers. */
  freeze(): void {
    this.ended.abort();
    for (const socket of this.sockets) socket.pause();
  }

  /** Forwards only the first half of the client's next chunk, then resets both sides. */
  cutNext(): void {
    this.isCutting = true;
  }

  private cut(chunk: Buffer): boolean {
    if (!this.isCutting) return false;
    // Reset after the kernel has the data, because a reset discards unsent data.
    this.server.write(chunk.subarray(0, chunk.length / 2), () => this.reset());
    this.ended.abort();
    return true;
  }
}

const closing = (socket: Socket) =>
  new Promise<void>((resolve) => socket.once('close', () => resolve()));

/** Maximum bytes that wait in one direction. Above it the sender is not read. */
const MAX_HELD = 1024 * 1024;

interface WayOptions {
  readonly from: Socket;
  readonly to: Socket;
  readonly conditions: Conditions;
  /** Stops forwarding and discards waiting data. */
  readonly signal: AbortSignal;
  /** @returns whether it has handled the chunk, which is the last one then */
  cut?(chunk: Buffer): boolean;
}

/** Forwards one direction in order: each chunk when it is due, and no faster than the receiver reads. */
class OneWay {
  /** An item without a chunk is the end of the stream. */
  private readonly waiting: { chunk?: Buffer; due: number }[] = [];
  private held = 0;
  private isAtWork = false;

  constructor(private readonly options: WayOptions) {}

  start(): void {
    const { from, signal } = this.options;
    from.on('data', (chunk: Buffer) => {
      if (signal.aborted) return;
      this.held += chunk.length;
      if (this.held > MAX_HELD) from.pause();
      this.add(chunk);
    });
    from.on('end', () => this.add());
  }

  private add(chunk?: Buffer): void {
    const due = performance.now() + this.options.conditions.delay;
    this.waiting.push({ ...(chunk && { chunk }), due });
    // It fails only if the connection has ended.
    this.work().catch(() => undefined);
  }

  /** Forwards chunks that are due without a timer. */
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
        if (this.held <= MAX_HELD / 2 && from.isPaused()) from.resume();
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

/** Maximum milliseconds of one piece at the full rate. */
const PIECE = 20;

/** A limit of bytes per second for several connections together. */
export class Throttle {
  private rate: number | undefined;
  private freeAt = 0;

  /** Bytes per second; undefined: no limit. */
  setRate(bytesPerSecond: number | undefined): void {
    this.rate = bytesPerSecond;
    this.freeAt = 0;
  }

  /** Splits a chunk into small pieces, so that one connection does not block the others. */
  pieces(chunk: Buffer): Buffer[] {
    if (this.rate === undefined) return [chunk];
    const size = Math.max(1, Math.round((this.rate * PIECE) / 1_000));
    const count = Math.ceil(chunk.length / size);
    return Array.from({ length: count }, (_, n) => chunk.subarray(n * size, (n + 1) * size));
  }

  /**
   * Reserves the time for some bytes after all earlier reservations.
   *
   * @returns milliseconds until they may be sent
   */
  take(bytes: number): number {
    if (this.rate === undefined) return 0;
    const now = performance.now();
    this.freeAt = Math.max(now, this.freeAt) + (bytes / this.rate) * 1_000;
    return this.freeAt - now;
  }
}
