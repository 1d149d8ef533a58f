/**
 * Delays requests while Node accepts new connections. Node accepts only one connection per turn of the event loop, so
 * without the delay each new request runs alone in its turn. Delayed requests run together and can share a Redis
 * batch.
 */
import type { Server } from 'node:http';
import type { Clock } from '../concurrency/timing';

/** Maximum milliseconds for which a request waits for further connections. */
const MAX_WAIT = 10;
/** Maximum waiting requests. */
const MAX_WAITING = 500;

/** Runs tasks in the order of the calls. */
export type RunWithNewConnections = (task: () => void) => void;

/** @param clock monotonic, milliseconds */
export function collectRequests(
  server: Pick<Server, 'on'>,
  clock: Clock = () => performance.now(),
): RunWithNewConnections {
  const waiting: (() => void)[] = [];
  let since = 0;
  /** Whether a call of `endTurn` is scheduled. */
  let isCollecting = false;
  /** Whether a connection was accepted after the last call of `endTurn`. */
  let hasAccepted = false;
  const runAll = () => {
    for (const task of waiting.splice(0)) task();
  };
  const endTurn = () => {
    isCollecting = hasAccepted;
    hasAccepted = false;
    if (isCollecting) setImmediate(endTurn);
    if (!isCollecting || clock() - since >= MAX_WAIT) runAll();
  };
  server.on('connection', () => {
    hasAccepted = true;
    if (!isCollecting) setImmediate(endTurn);
    isCollecting = true;
  });
  return (task) => {
    if (!isCollecting) return task();
    if (waiting.length === 0) since = clock();
    waiting.push(task);
    if (waiting.length >= MAX_WAITING) runAll();
  };
}
