/** npm run test:soak: what is long by nature. */
module.exports = {
  ...require('./jest.config.cjs'),
  testMatch: ['<rootDir>/test/soak/**/*.test.ts'],
  testPathIgnorePatterns: [],
  // Each of them starts a system of its own.
  maxWorkers: 2,
  testTimeout: 900_000,
};
