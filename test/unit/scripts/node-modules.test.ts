/** npm start installs what it runs; what is there is not installed again, nor taken away. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');

/** Runs an expression over the modules of the set-up; they are modules of the other kind. */
function evaluate(expression: string): unknown {
  const load = (name: string) => `await import(${JSON.stringify(join(ROOT, 'scripts/lib', name))})`;
  const script = `(async () => {
    const { lockSubset, withArchives } = ${load('lock-subset.mjs')};
    const { BUILDS } = ${load('build.mjs')};
    const { DEV_MODULES, hasWanted } = ${load('node-modules.mjs')};
    console.log(JSON.stringify(${expression}));
  })();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

const whole = (dependencies: Readonly<Record<string, string>> = {}, more: object = {}) => ({
  ...{ version: '1.0.0', integrity: 'sha512-x', dependencies },
  ...more,
});
const LOCK = {
  lockfileVersion: 3,
  packages: {
    '': { dependencies: { a: '1.0.0' }, devDependencies: { build: '1.0.0', tool: '1.0.0' } },
    'node_modules/a': whole({ b: '1' }, { peerDependencies: { peer: '1', absent: '1' } }),
    'node_modules/a/node_modules/b': whole({ c: '1' }),
    'node_modules/b': whole(),
    'node_modules/c': whole({}, { optionalDependencies: { native: '1' } }),
    'node_modules/native': whole({}, { optional: true }),
    'node_modules/peer': whole(),
    'node_modules/build': whole({}, { dev: true }),
    'node_modules/tool': whole({ b: '1' }, { dev: true }),
  },
};

test('a subset of the lockfile holds what is needed, as Node finds it, and nothing else', () => {
  const subset = evaluate(`lockSubset(${JSON.stringify(LOCK)}, ['build'])`) as typeof LOCK;
  expect(Object.keys(subset.packages)).toEqual([
    '',
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/c',
    'node_modules/native',
    'node_modules/peer',
    'node_modules/build',
  ]);
  expect(subset.packages[''].devDependencies).toEqual({ build: '1.0.0' });
});

const { '': _, ...ALL } = LOCK.packages;
const { 'node_modules/native': _native, ...WITHOUT_OPTIONAL } = ALL;
const { 'node_modules/tool': _tool, ...WITHOUT_TOOL } = ALL;
const { 'node_modules/c': _c, ...WITHOUT_NEEDED } = ALL;
const OLDER = { ...ALL, 'node_modules/c': whole({}, { version: '0.9.0' }) };

test.each([
  ['everything', ALL, { run: true, all: true }],
  ['all but the tools', WITHOUT_TOOL, { run: true, all: false }],
  ['no packages of other platforms', WITHOUT_OPTIONAL, { run: true, all: true }],
  ['not what is needed', WITHOUT_NEEDED, { run: false, all: false }],
  ['another version', OLDER, { run: false, all: false }],
  ['a stranger', { ...ALL, 'node_modules/z': whole() }, { run: false, all: false }],
  ['nothing', null, { run: false, all: false }],
])('node_modules that hold %s', (_name, installed, expected) => {
  const lock = JSON.stringify(LOCK);
  const has = (wanted: string) =>
    `hasWanted(${wanted}.packages, ${lock}.packages, ${JSON.stringify(installed)} ?? undefined)`;
  const run = has(`lockSubset(${lock}, ['build'])`);
  expect(evaluate(`{ run: ${run}, all: ${has(lock)} }`)).toEqual(expected);
});

test('each package names its archive, so that npm does not ask for its versions', () => {
  const packages = {
    '': {},
    'node_modules/a': { version: '1.2.3' },
    'node_modules/b/node_modules/@c/d': { version: '2.0.0-rc.1' },
    'node_modules/alias': { version: '3.0.0', name: '@real/name' },
    'node_modules/link': { link: true, resolved: 'folder' },
  };
  const { packages: named } = evaluate(
    `withArchives({ packages: ${JSON.stringify(packages)} })`,
  ) as { packages: Record<string, { resolved?: string }> };
  expect(Object.values(named).map(({ resolved }) => resolved)).toEqual([
    undefined,
    'https://registry.invalid/a/-/a-1.2.3.tgz',
    'https://registry.invalid/@c/d/-/d-2.0.0-rc.1.tgz',
    'https://registry.invalid/@real/name/-/name-3.0.0.tgz',
    'folder',
  ]);
});

test.each(['start', 'bench'] as const)(
  'what is built for npm %s imports installed packages only',
  (name) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const devModules = evaluate(`DEV_MODULES.${name}`) as string[];
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining(devModules));
    const there = [...Object.keys(manifest.dependencies), ...devModules];
    const folders = evaluate(`BUILDS.${name === 'start' ? 'start' : 'all'}`) as string[];
    const imported = new Set([...folders, 'browser'].flatMap(packagesImportedIn));
    expect(imported.size).toBeGreaterThan(15);
    expect([...imported].filter((it) => !there.includes(it))).toEqual([]);
  },
);

function packagesImportedIn(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.[jt]s$/.test(name))
    .flatMap((name) => {
      const text = readFileSync(join(ROOT, folder, name), 'utf8');
      return [...text.matchAll(/^(?:import|export|\}) [^;]*?from '((?:@[^/']+\/)?[^./'][^/']*)/gm)];
    })
    .map(([, name = '']) => name)
    .filter((name) => !isBuiltin(name));
}
