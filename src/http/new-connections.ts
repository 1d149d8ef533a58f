/**
 * While connections are being accepted, all requests wait and are then handled together. Node accepts only one
 * connection in each turn of its event loop. If each request were handled immediately, every turn would be long, and
 * every batch for Redis and MongoDB would contain one push. After a restart, the last of 128 clients would then wait
 * for up to a second. Clients that use a new connection for each request would lose a third of their throughput.
 */
import type { Server } from 'node:http';
import type { Clock } from '../concurrency/timing';

/** Maximum milliseconds for which a request waits for further connections. */
const MAX_WAIT = 10;
/**
 * Maximum requests that wait. Waiting requests need a limit of their own: the upload limits (body.ts) do not count a
 * waiting request, although Node can already have received a part of its body.
 */
const MAX_WAITING = 500;

/**
 * Runs tasks in their order. While each turn of the event loop accepts another connection, the tasks of all connections
 * wait. Otherwise a task runs immediately.
 */
export type RunWithNewConnections = (task: () => void) => void;

/** @param clock monotonic, milliseconds */
export function collectRequests(
  server: Pick<Server, 'on'>,
  clock: Clock = () => performance.now(),
): RunWithNewConnections {
  const waiting: (() => void)[] = [];
  /** Start of the wait of the first task, by `clock`. */
  let since = 0;
  /** Whether `endTurn` will be called. */
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
