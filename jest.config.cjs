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
  },
  testTimeout: 30_000,
};
