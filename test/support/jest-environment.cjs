/**
 * jest's environment of a test file: the realm of jest's worker itself, where jest makes one for each
 * file. Packages can be loaded once for all files then (`jest-runtime.cjs`): an array, a date or an error
 * of theirs is one of the test's own. What a file leaves on the global object or in `process.env` is
 * taken away after it. A file that leaves a connection, a timer or a process behind fails.
 */
const { AsyncLocalStorage } = require('node:async_hooks');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { findLeft, look } = require('./left-behind.cjs');
const { troubleIn } = require('./service-logs.cjs');

module.exports = class OneRealm {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  restore = [
    remember(globalThis),
    remember(process.env),
    rememberExit(),
    rememberListeners('unhandledRejection', 'uncaughtException', 'SIGTERM', 'SIGINT', 'SIGHUP'),
  ];

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** There is none: `jest-runtime.cjs` compiles without. */
  getVmContext() {
    return null;
  }

  async setup() {
    // Jest sets 100, and makes an error for each `expect`: with a stack that deep it costs more than the check.
    Error.stackTraceLimit = STACK_DEPTH;
    openStandardStreams();
    this.before = look();
    // Services of the file add theirs (`service.ts`, `shared-service.ts`).
    globalThis.serviceLogs = new Set();
  }

  async handleTestEvent({ name, test }, { unhandledErrors }) {
    if (name === 'test_done' && test.errors.length > 0) {
      const trouble = troubleIn(globalThis.serviceLogs, test.startedAt);
      // Only the text: there is no line of code to look at.
      const stack = `The services logged:\n${trouble.join('\n')}`;
      if (trouble.length > 0) test.errors.push(Object.assign(new Error(stack), { stack }));
    }
    // After the last hook of a file; what is added to the errors here makes the file fail.
    if (name !== 'run_finish') return;
    this.fakeTimersModern.useRealTimers();
    const left = await findLeft(this.before);
    if (left.length === 0) return;
    unhandledErrors.push(new Error(`This file left behind:\n${left.join('\n')}`));
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    // Of the methods of packages too, which the next file shares.
    this.moduleMocker.restoreAllMocks();
    for (const restore of this.restore) restore();
    for (const storage of usedStorages) storage.disable();
    usedStorages.clear();
    this.global = null;
  }
};

/**
 * Node opens a standard stream when it is first used: by a package, a warning, or not at all. Opened here, it
 * is not counted as left behind by the file that happens to use it first.
 */
function openStandardStreams() {
  for (const name of ['stdin', 'stdout', 'stderr']) void process[name];
}

/** Frames: enough to see the line of a test from within our code. */
const STACK_DEPTH = 20;

/**
 * jest uses an AsyncLocalStorage of its own for each test file. Until it is disabled, Node 20 copies its
 * value into every promise: the hundredth file of a worker would pay for a hundred of them.
 */
const usedStorages = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function runNoted(...args) {
  usedStorages.add(this);
  return run.apply(this, args);
};

/** @returns puts the object's properties back as they are now */
function remember(object) {
  const before = Object.getOwnPropertyDescriptors(object);
  return () => {
    for (const key of Reflect.ownKeys(object)) {
      if (!Object.hasOwn(before, key)) Reflect.deleteProperty(object, key);
    }
    for (const key of Reflect.ownKeys(before)) {
      if (isOther(before[key], Object.getOwnPropertyDescriptor(object, key))) {
        Reflect.defineProperty(object, key, before[key]);
      }
    }
  };
}

const isOther = (one, other) => ['value', 'get', 'set'].some((key) => one[key] !== other?.[key]);

/** @returns takes away who listens to the process since */
function rememberListeners(...names) {
  const before = new Map(names.map((name) => [name, process.listeners(name)]));
  return () => {
    for (const [name, known] of before) {
      for (const listener of process.listeners(name)) {
        if (!known.includes(listener)) process.off(name, listener);
      }
    }
  };
}

/** jest puts its own in place for each file, which tells of the file and calls the one before it. */
function rememberExit() {
  const { exit } = process;
  return () => {
    process.exit = exit;
  };
}
