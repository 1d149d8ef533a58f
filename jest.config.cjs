const { availableParallelism } = require('node:os');

// The long tests run with `npm run test:soak`, or if the command names them.
const named = process.argv.slice(2).some((arg) => /^(\.\/)?test(\/|$)/.test(arg));

module.exports = {
  // Packages are loaded once per worker, not once per file.
  testEnvironment: '<rootDir>/test/support/jest-environment.cjs',
  runtime: '<rootDir>/test/support/jest-runtime.cjs',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: named ? [] : ['<rootDir>/test/soak/'],
  // Test files mostly wait, so there are more workers than cores. On one core there are fewer: each worker starts
  // services, and with four workers a request exceeded 3 s and got 503.
  maxWorkers: Math.min(3 * availableParallelism() - 1, availableParallelism() + 3),
  // With this setting jest starts a worker even for a single file. The services of `shared-host.ts` then run in
  // another process than the test.
  workerIdleMemoryLimit: '4GB',
  globalSetup: '<rootDir>/test/support/shared-host.ts',
  globalTeardown: '<rootDir>/test/support/shared-host-end.ts',
  testSequencer: '<rootDir>/test/support/sequencer.cjs',
  // The cache contains the duration of each file. The next run needs it, so the cache is not in the folder for
  // temporary files.
  cacheDirectory: '<rootDir>/.embedded/jest',
  // Code that is loaded on demand has the name of its file in dist/: import('./x.js').
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
