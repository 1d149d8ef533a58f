/** Connections of test clients that serve more than one request. */
import { Agent } from 'node:http';
import { IDLE_TIMEOUT } from '../../tools/harness/sender';

/**
 * Closes idle connections before the web process does. The caller must set a timeout for each request. Otherwise Node
 * applies IDLE_TIMEOUT to the request too.
 */
export const keepAliveAgent = (maxSockets: number): Agent =>
  new Agent({ keepAlive: true, maxSockets, timeout: IDLE_TIMEOUT });
