/**
 * Timers of this process that keep it alive, one by one: Node tells no more than how many there are, and jest's own
 * come and go among them. They are watched from the moment on at which this module is loaded.
 */
const timersModule = require('node:timers');
const promises = require('node:timers/promises');

/** With TRACE_HANDLES=1 each knows where it was made. That makes tests slower. */
const isTracing = Boolean(process.env.TRACE_HANDLES);
/** Beyond this number those that are over are forgotten. */
const MANY = 1_000;

/** Where it was made, by the timer. */
const made = new Map();
/** The same of waits, which have no timer that could be asked. */
const waits = new Map();

const here = () => (isTracing ? new Error('made') : undefined);
const isAlive = (timer) => !timer._destroyed && timer.hasRef();

function note(timer) {
  made.set(timer, here());
  if (made.size <= MANY) return;
  for (const one of made.keys()) if (one._destroyed) made.delete(one);
}

function watch(name) {
  const original = globalThis[name];
  const watched = function (...args) {
    const timer = original.apply(this, args);
    note(timer);
    return timer;
  };
  // Its name, and what util.promisify takes.
  Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original));
  globalThis[name] = watched;
  timersModule[name] = watched;
}

function watchWaits() {
  const original = promises.setTimeout;
  promises.setTimeout = (delay, value, options) => {
    const wait = original(delay, value, options);
    if (options?.ref === false) return wait;
    waits.set(wait, here());
    const isOver = () => waits.delete(wait);
    wait.then(isOver, isOver);
    return wait;
  };
}

watch('setTimeout');
watch('setInterval');
watchWaits();

/** @returns all that keep the process alive, each with the error that tells where it was made, if it is traced */
const aliveTimers = () =>
  new Map([...[...made].filter(([timer]) => isAlive(timer)), ...waits.entries()]);

module.exports = { aliveTimers };
