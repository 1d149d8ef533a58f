const { availableParallelism } = require('node:os');

/** npm run test:soak: what is long by nature. */
module.exports = {
  ...require('./jest.config.cjs'),
  testMatch: ['<rootDir>/test/soak/**/*.test.ts'],
  testPathIgnorePatterns: [],
  // Each of them starts a system of its own, and some wait for minutes.
  maxWorkers: availableParallelism() + 1,
  testTimeout: 900_000,
};
