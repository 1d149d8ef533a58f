/**
 * Stops processes at points of their code, so that a fault meets them exactly there, however fast the machine is. The
 * processes load `points.ts`, which reports each point with an HTTP request. A process waits until it is answered.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { withTimeout } from '../../src/concurrency/timing';

export type Point =
  /** A worker has read a batch with pushes, and has not loaded its matters. */
  | 'batch-read'
  /** Redis has answered whether the worker owns the partitions. The transaction has written nothing yet. */
  | 'ownership-checked'
  /** A commit has succeeded or failed. */
  | 'commit-ended'
  /** A process is about to schedule partition jobs. A web process has appended the pushes before. */
  | 'job-due'
  /** A worker drains: it releases its partitions after the current batch. */
  | 'drain-begun';

/** A process that waits at a point. */
export interface Halted {
  readonly pid: number;
  /** Lets the process continue. */
  release(): void;
}

export interface PointServer {
  /** Processes load `points.ts` with this value in CHAOS_POINTS. */
  readonly url: string;
  /**
   * Halts the next process that reaches a point. Processes that reach a point for which nothing waits continue at once.
   *
   * @param pid of the process; the first one if absent
   * @throws Error if no process reaches the point within a minute
   */
  next(point: Point, pid?: number): Promise<Halted>;
  /** All processes continue. */
  close(): void;
}

const PATIENCE = 60_000;

interface Expected {
  readonly point: string;
  readonly pid: number | undefined;
  readonly halt: (halted: Halted) => void;
}

export async function startPointServer(): Promise<PointServer> {
  const expected: Expected[] = [];
  const server = createServer(({ url = '' }, response) => {
    const [, point, pid] = url.split('/');
    const release = () => void response.end();
    const index = expected.findIndex(
      (one) => one.point === point && (one.pid ?? Number(pid)) === Number(pid),
    );
    const [found] = index < 0 ? [] : expected.splice(index, 1);
    if (found) found.halt({ pid: Number(pid), release });
    else release();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    next: (point, pid) => {
      const halted = new Promise<Halted>((halt) => expected.push({ point, pid, halt }));
      const failure = () => new Error(`no process reached the point ${point} within a minute`);
      const next = withTimeout(halted, PATIENCE, failure);
      // A plan that fails elsewhere does not wait for it any more.
      next.catch(() => undefined);
      return next;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
