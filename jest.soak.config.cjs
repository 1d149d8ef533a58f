const { availableParallelism } = require('node:os');

/** npm run test:soak: the long tests. */
module.exports = {
  ...require('./jest.config.cjs'),
  testMatch: ['<rootDir>/test/soak/**/*.test.ts'],
  testPathIgnorePatterns: [],
  // Each file starts its own system, and some wait for minutes.
  maxWorkers: availableParallelism() + 1,
  testTimeout: 900_000,
};
