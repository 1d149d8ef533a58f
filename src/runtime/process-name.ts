/**
 * What a process is called everywhere an operator meets it: in its log lines, in the entries that it
 * settled, in `matterctl queue partitions` and in `matterctl status`.
 */
import { hostname } from 'node:os';

/** Characters of a host name: a pod's fits, and the name stays readable in a table. */
const MAX_HOST = 48;

/** @returns for example `worker-app1-4711`; only letters, digits, `.`, `_` and `-` */
export function processName(type: string, host = hostname(), pid = process.pid): string {
  return `${type}-${host.replace(/[^\w.-]/g, '_').slice(0, MAX_HOST)}-${pid}`;
}
