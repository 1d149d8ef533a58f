/**
 * npm run test:node-24: the tests that .ci/run repeats on Node 24. These are the unit tests, and the tests that use
 * most of Node: HTTP, sockets, signals, child processes, timers, streams and the loading of modules.
 */
const dirs = {
  promises: ['order', 'truth', 'answer', 'recovery'],
  http: ['auth', 'bad-input', 'hostile-http', 'hostile-headers', 'hostile-bodies'],
  processes: ['processes', 'drain'],
  matterctl: ['push', 'log', 'directory', 'loads'],
  observability: ['metrics', 'tracing'],
};

module.exports = {
  ...require('./jest.config.cjs'),
  testMatch: [
    '<rootDir>/test/unit/**/*.test.ts',
    ...Object.entries(dirs).flatMap(([dir, names]) =>
      names.map((name) => `<rootDir>/test/integration/${dir}/${name}.test.ts`),
    ),
    '<rootDir>/test/e2e/readme.e2e.test.ts',
  ],
};
