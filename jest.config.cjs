module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        sourceMaps: 'inline',
        module: { type: 'commonjs' },
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      },
    ],
    // The page's modules, which browsers take as they are.
    '/public/docs/.+\\.js$': ['@swc/jest', { module: { type: 'commonjs' } }],
    // It loads `os` by import(), which jest's modules do not have: without it the driver greets the
    // server with empty metadata, and the server refuses it.
    '/mongodb/lib/runtime_adapters\\.js$': ['@swc/jest', { module: { type: 'commonjs' } }],
  },
  transformIgnorePatterns: ['/node_modules/(?!mongodb/lib/runtime_adapters\\.js$)'],
  testTimeout: 30_000,
};
