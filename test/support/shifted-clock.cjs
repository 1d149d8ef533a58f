/**
 * To be loaded before a process (`NODE_OPTIONS=--require=…`): its clock is off by SHIFT_CLOCK
 * milliseconds. What counts on from an instant (`performance.now()`, timers) is not.
 */
const shift = Number(process.env.SHIFT_CLOCK);
const now = Date.now;

globalThis.Date = new Proxy(Date, {
  construct: (target, args, as) =>
    Reflect.construct(target, args.length === 0 ? [now() + shift] : args, as),
});
Date.now = () => now() + shift;
