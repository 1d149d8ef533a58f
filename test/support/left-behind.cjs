/**
 * What a test file left behind: connections, servers, timers and child processes that keep the process alive
 * after it. `jest-environment.cjs` looks before and after each file.
 */
const { setTimeout: sleep } = require('node:timers/promises');
const { aliveTimers } = require('./watched-timers.cjs');

/**
 * Milliseconds in which what is being closed is gone. They are counted in pauses: while the process itself stands still
 * nothing is closed, and that time does not count.
 */
const PATIENCE = Number(process.env.LEFT_BEHIND_PATIENCE ?? 20_000);
const PAUSE = 20;

/** Node counts timers too; here they are looked at one by one. */
const TIMER = 'Timeout';

/** @returns how many there are of each type */
function count() {
  const counts = new Map();
  for (const type of process.getActiveResourcesInfo()) {
    if (type !== TIMER) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}

/** @returns what there is now, to be given to `findLeft` */
function look() {
  return {
    counts: count(),
    handles: new Set(process._getActiveHandles()),
    timers: new Set(aliveTimers().keys()),
  };
}

/**
 * Waits for a while until nothing more is there than before.
 *
 * @param before of `look`
 * @returns what there is too much of, a line each; empty where all is gone
 */
async function findLeft(before, patience = PATIENCE) {
  for (let passed = 0; ; passed += PAUSE) {
    const left = [...count()].filter(([type, number]) => number > (before.counts.get(type) ?? 0));
    const timers = [...aliveTimers()].filter(([timer]) => !before.timers.has(timer));
    if (left.length + timers.length === 0) return [];
    if (passed >= patience) {
      const handles = left.length > 0 ? tellHandles(before) : [];
      return [...left.map(tellType(before)), ...handles, ...timers.map(tellTimer)];
    }
    await sleep(PAUSE);
  }
}

const tellType =
  ({ counts }) =>
  ([type, number]) =>
    `${number - (counts.get(type) ?? 0)} more of ${type} than before`;

function tellHandles({ handles }) {
  return process._getActiveHandles().flatMap((handle) => {
    if (handles.has(handle)) return [];
    const { spawnargs, localPort, remotePort } = handle;
    const { name } = handle.constructor;
    if (spawnargs) return [`process ${handle.pid}: ${spawnargs.join(' ')}`];
    if (remotePort) return [`connection from port ${localPort} to port ${remotePort}`];
    const port = handle.address?.()?.port;
    if (port) return [`${name} at port ${port}`];
    // A pipe, of a child process or a standard stream, has a number instead.
    return [handle._handle?.fd >= 0 ? `${name} of file descriptor ${handle._handle.fd}` : name];
  });
}

function tellTimer([timer, trace]) {
  const what = timer._idleTimeout === undefined ? 'a wait' : `a timer of ${timer._idleTimeout} ms`;
  return `${what}, ${trace ? trace.stack : 'made where TRACE_HANDLES=1 tells'}`;
}

module.exports = { findLeft, look };
