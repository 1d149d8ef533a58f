/**
 * A process whose clock is wrong by a fixed time, as on a machine that nobody keeps in time: loaded
 * before its own code. Only dates are: timers and the monotonic clock go right, as they do there.
 */

/** Milliseconds; below zero: slow. */
const shift = Number(process.env.CHAOS_CLOCK_SHIFT ?? 0);
const trueNow = Date.now;
const now = () => trueNow() + shift;

const shifted: DateConstructor = new Proxy(Date, {
  construct: (date, args, made) =>
    Reflect.construct(date, args.length === 0 ? [now()] : args, made === shifted ? date : made),
  apply: () => new Date(now()).toString(),
});
Date.now = now;
Date.prototype.constructor = shifted;
globalThis.Date = shifted;
