/**
 * Connections to a member of the replica set go through the proxy before it: loaded before a
 * process's own code. The driver takes the addresses of the members from the set itself, and the
 * members talk to each other past the proxies.
 */
import net from 'node:net';
import { replace } from '../breaks/replace';

/** By the port of a member, the port of its proxy. */
const ways: Readonly<Record<string, number>> = JSON.parse(process.env.CHAOS_WAYS ?? '{}');

const divert = (first: unknown): unknown => {
  if (typeof first !== 'object' || first === null || !('port' in first)) return first;
  return { ...first, port: ways[String(first.port)] ?? first.port };
};

replace(net, 'createConnection', (original) => {
  const diverted = (first: unknown, ...rest: unknown[]) =>
    Reflect.apply(original, net, [divert(first), ...rest]);
  return diverted as typeof original;
});
