const { availableParallelism } = require('node:os');

// What is long by nature runs with `npm run test:soak`, or where somebody names it.
const named = process.argv.slice(2).some((arg) => /^(\.\/)?test(\/|$)/.test(arg));

module.exports = {
  // Packages are loaded once per worker, not once per file.
  testEnvironment: '<rootDir>/test/support/jest-environment.cjs',
  runtime: '<rootDir>/test/support/jest-runtime.cjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: named ? [] : ['<rootDir>/test/soak/'],
  // Most of a file's time is waiting, and no wait in a test is short, so there are more workers than cores. One core
  // has fewer: each worker has services of its own, and with four of them a request of 3 s got 503.
  maxWorkers: Math.min(3 * availableParallelism() - 1, availableParallelism() + 3),
  // A file that is run alone has a worker too: what the services of `shared-host.ts` are is not its own.
  workerIdleMemoryLimit: '4GB',
  globalSetup: '<rootDir>/test/support/shared-host.ts',
  globalTeardown: '<rootDir>/test/support/shared-host-end.ts',
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  // Here, not in the folder for temporary files: how long each file took is known to the next run.
  cacheDirectory: '<rootDir>/.embedded/jest',
  // What is loaded on demand is named as it is in dist/: import('./x.js').
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        sourceMaps: 'inline',
        module: { type: 'commonjs' },
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      },
    ],
    // The modules of the pages, which the build bundles.
    '/browser/(console|docs|operator)/.+\\.js$': ['@swc/jest', { module: { type: 'commonjs' } }],
  },
  testTimeout: 300_000,
};
