/**
 * How jest loads modules in a test file, with two things less to do than by itself: packages are loaded
 * once for all files of a worker, by Node, and a file of ours is compiled once. Ours still run anew for
 * each test file, with a state of their own. It needs the one realm of `jest-environment.cjs`.
 *
 * A quarter of the suite's time went into loading mongoose, bullmq and zod again and again.
 */
const { isBuiltin } = require('node:module');
const { dirname, join, resolve } = require('node:path');
const { compileFunction } = require('node:vm');
const { default: JestRuntime } = require('jest-runtime');

/** What a test file registers with these must be gone with it: each file loads its own. */
const NOT_SHARED = /^@opentelemetry\//;

/** What was built: services in the process of jest run from it. */
const DIST = join(__dirname, '../../dist/');

/** By the file: its source, and what it was compiled to. */
const compiled = new Map();

module.exports = class OneRealmRuntime extends JestRuntime {
  constructor(...args) {
    super(...args);
    const { executor } = this;
    executor.compile = (source, filename) =>
      compileOnce(source, filename, executor.injectedModuleParameters);
  }

  requireModule(from, moduleName, options, isRequireActual) {
    const shared = options?.isInternalModule ? undefined : this.#sharedFile(from, moduleName);
    if (shared) return require(shared);
    return super.requireModule(from, moduleName, options, isRequireActual);
  }

  /** The file of a package that is asked for by its name, of the build by its path, or of a script. */
  #sharedFile(from, moduleName) {
    if (moduleName?.startsWith(DIST)) return moduleName;
    // An ES module, which only Node's own loader takes.
    if (moduleName?.endsWith('.mjs')) return resolve(dirname(from), moduleName);
    if (!moduleName || /^[./]/.test(moduleName) || isBuiltin(moduleName)) return undefined;
    if (NOT_SHARED.test(moduleName)) return undefined;
    return this._resolution.resolveCjs(from, moduleName);
  }
};

function compileOnce(source, filename, parameters) {
  const known = compiled.get(filename);
  if (known?.source === source) return known.body;
  const body = compileFunction(source, parameters, { filename });
  compiled.set(filename, { source, body });
  return body;
}
