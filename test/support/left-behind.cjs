/**
 * What a test file left behind: connections, servers, timers and child processes that keep the process alive
 * after it. `jest-environment.cjs` looks before and after each file.
 *
 * With TRACE_HANDLES=1 the failure shows where each of them was made. That makes tests much slower.
 */
const { createHook } = require('node:async_hooks');
const { setTimeout: sleep } = require('node:timers/promises');

/** Milliseconds in which what is being closed is gone. */
const PATIENCE = Number(process.env.LEFT_BEHIND_PATIENCE ?? 20_000);
const PAUSE = 20;

/** How many of a type others have in this process, by type: `keep` says who. */
const kept = new Map();

/**
 * Lets handles live on after a file.
 *
 * @param reason who has them, and until when
 * @param types how many of each type, now; they may change
 */
function keep(reason, types) {
  kept.set(reason, types);
}

/** @returns how many there are of each type, without those that are kept */
function count() {
  const counts = new Map();
  for (const type of process.getActiveResourcesInfo()) {
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  for (const types of kept.values()) {
    for (const [type, number] of Object.entries(types())) {
      counts.set(type, (counts.get(type) ?? 0) - number);
    }
  }
  return counts;
}

/** @returns what there is now, to be given to `findLeft` */
function look() {
  return { counts: count(), handles: new Set(process._getActiveHandles()) };
}

/**
 * Waits for a while until nothing more is there than before.
 *
 * @param before of `look`
 * @returns what there is too much of, a line each; empty where all is gone
 */
async function findLeft(before, patience = PATIENCE) {
  const end = performance.now() + patience;
  for (;;) {
    const left = [...count()].filter(([type, number]) => number > (before.counts.get(type) ?? 0));
    if (left.length === 0) return [];
    if (performance.now() > end) return [...left.map(tellType(before)), ...tellHandles(before)];
    await sleep(PAUSE);
  }
}

const tellType =
  ({ counts }) =>
  ([type, number]) =>
    `${number - (counts.get(type) ?? 0)} more of ${type} than before${tracesOf(type)}`;

function tellHandles({ handles }) {
  return process._getActiveHandles().flatMap((handle) => {
    if (handles.has(handle)) return [];
    const { spawnargs, localPort, remotePort } = handle;
    const { name } = handle.constructor;
    if (spawnargs) return [`process ${handle.pid}: ${spawnargs.join(' ')}`];
    if (remotePort) return [`connection from port ${localPort} to port ${remotePort}`];
    if (typeof handle.address === 'function') {
      return [`${name} at port ${handle.address()?.port}`];
    }
    return [name];
  });
}

/** By their async ids, while they are traced. */
const traces = new Map();

function trace() {
  createHook({
    init: (id, type) => {
      if (type !== 'PROMISE' && type !== 'TickObject') {
        traces.set(id, { type, at: new Error('made') });
      }
    },
    destroy: (id) => traces.delete(id),
  }).enable();
}
if (process.env.TRACE_HANDLES) trace();

/** TCPSocketWrap is TCPWRAP to async_hooks. */
const plain = (type) => type.toUpperCase().replace('SOCKET', '').replace('WRAP', '');

function tracesOf(wanted) {
  return [...traces.values()]
    .filter(({ type }) => plain(type) === plain(wanted))
    .map(({ at }) => `\n${at.stack}`)
    .join('');
}

module.exports = { findLeft, keep, look };
