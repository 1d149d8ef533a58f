/** Connections of test clients that serve more than one request. */
import { Agent } from 'node:http';

/**
 * Milliseconds; less than KEEP_ALIVE_TIMEOUT (65 s) of the web process. Otherwise the web process may close an idle
 * connection in the moment in which a test on a busy machine sends on it: "socket hang up".
 */
const IDLE_TIMEOUT = 20_000;

/** Each request has a timeout of its own: Node gives that of the agent to those that have none. */
export const keepAliveAgent = (maxSockets: number): Agent =>
  new Agent({ keepAlive: true, maxSockets, timeout: IDLE_TIMEOUT });
