/**
 * Each process of a cluster loads this file before its own code. It makes the clock wrong, and diverts connections to
 * the proxies of the process.
 */
import net from 'node:net';

divertConnections(JSON.parse(process.env.CHAOS_WAYS ?? '{}'));
shiftClock(Number(process.env.CHAOS_CLOCK_SHIFT ?? 0));

/**
 * Diverts connections to a server to its proxy for this process. Drivers get the addresses of servers from the servers
 * themselves, so the address of a proxy in the URL would not be enough.
 *
 * @param ways the port of the proxy, by the port of the server
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
 * Shifts the clock by a fixed time. Only dates change: timers and the monotonic clock stay right, as on a real
 * machine with a wrong clock.
 *
 * @param ms negative: slow
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
