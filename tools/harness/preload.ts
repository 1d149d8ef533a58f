/**
 * What each process of a cluster loads before its own code: a clock that is wrong, and the ways
 * through the proxies before the servers.
 */
import net from 'node:net';

divertConnections(JSON.parse(process.env.CHAOS_WAYS ?? '{}'));
shiftClock(Number(process.env.CHAOS_CLOCK_SHIFT ?? 0));

/**
 * Connections to a server go through the proxy of this process before it. The drivers take the addresses of servers
 * from the servers themselves, which talk to each other past the proxies.
 *
 * @param ways by the port of a server, the port of the proxy
 */
function divertConnections(ways: Readonly<Record<string, number>>): void {
  const original = net.createConnection;
  const divert = (first: unknown): unknown => {
    if (typeof first !== 'object' || first === null || !('port' in first)) return first;
    return { ...first, port: ways[String(first.port)] ?? first.port };
  };
  const diverted = (first: unknown, ...rest: unknown[]) =>
    Reflect.apply(original, net, [divert(first), ...rest]);
  Object.assign(net, { createConnection: diverted });
}

/**
 * The clock is wrong by a fixed time, as on a machine that nobody keeps in time. Only dates are:
 * timers and the monotonic clock go right, as they do there.
 *
 * @param ms below zero: slow
 */
function shiftClock(ms: number): void {
  const trueNow = Date.now;
  const now = () => trueNow() + ms;
  const shifted: DateConstructor = new Proxy(Date, {
    construct: (date, args, made) =>
      Reflect.construct(date, args.length === 0 ? [now()] : args, made === shifted ? date : made),
    apply: () => new Date(now()).toString(),
  });
  Date.now = now;
  Date.prototype.constructor = shifted;
  globalThis.Date = shifted;
}
