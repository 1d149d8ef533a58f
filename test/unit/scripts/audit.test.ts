/** The check of the dependencies finds what is planted, and says so when nobody could be asked. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { auditAdvisories, auditLockfile } from '../../../scripts/lib/audit-project.mjs';

const ROOT = resolve(__dirname, '../../..');
const HASH = `sha512-${'A'.repeat(86)}==`;
const EXPLAINED = { installScripts: {}, looseInstalls: {}, advisories: {} };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'matter-push-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function plant(files: Readonly<Record<string, unknown>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** A project in which nothing is wrong, but for what is planted over it. */
function project(files: Readonly<Record<string, unknown>> = {}, entry: object = {}): void {
  const whole = { version: '1.2.3', integrity: HASH };
  const packages = { '': {}, 'node_modules/a': { ...whole, ...entry } };
  plant({
    'package.json': { dependencies: { a: '1.2.3' }, overrides: { b: { c: '2.0.0-rc.1' } } },
    'package-lock.json': { lockfileVersion: 3, packages },
    'scripts/audit-explained.json': EXPLAINED,
    'scripts/build.mjs': "run('npm', ['ci', '--ignore-scripts']);",
    Dockerfile: 'RUN npm ci --ignore-scripts\n',
    ...files,
  });
}

describe('the command', () => {
  function audit(mode: string, env: NodeJS.ProcessEnv = process.env) {
    const script = join(ROOT, 'scripts/audit.mjs');
    const options = { encoding: 'utf8', env } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, mode, folder], options);
    return { status, stdout, stderr };
  }

  test('says what it has checked, and exits with 0', () => {
    project();
    const stdout = '1 packages: locked, hashed, exact\n';
    expect(audit('lockfile')).toEqual({ status: 0, stdout, stderr: '' });
  });

  test('names the problems, and exits with 1', () => {
    project({}, { link: true });
    const stderr = 'node_modules/a: is a link to a folder\n';
    expect(audit('lockfile')).toEqual({ status: 1, stdout: '', stderr });
  });

  test('exits with 75 where the registry gives no advisories', () => {
    project({ 'npm-cli.js': 'console.log("oops")' });
    const env = { ...process.env, npm_execpath: join(folder, 'npm-cli.js') };
    const stdout = 'SKIPPED: advisories: oops\n';
    expect(audit('advisories', env)).toEqual({ status: 75, stdout, stderr: '' });
  });

  test('knows no other audit', () => {
    expect(audit('others')).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('the lockfile', () => {
  const problems = () => auditLockfile(folder).problems;

  test('of this project, and one without fault, passes', () => {
    project();
    expect(problems()).toEqual([]);
    for (const name of ['package.json', 'package-lock.json', 'Dockerfile', '.ci', 'scripts']) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    expect(Object.keys(packages).length).toBeGreaterThan(400);
    expect(auditLockfile(folder)).toEqual({
      problems: [],
      fine: `${Object.keys(packages).length - 1} packages: locked, hashed, exact`,
    });
  });

  test.each<[string, object, string]>([
    ['no integrity', { integrity: undefined }, 'node_modules/a: has no sha512 integrity'],
    ['a weak one', { integrity: 'sha1-AAAA' }, 'node_modules/a: has no sha512 integrity'],
    ['git', { resolved: 'git+ssh://git@h/a.git#1' }, 'node_modules/a: comes from git+ssh:'],
    ['a place', { resolved: 'https://h/a-1.2.3.tgz' }, 'node_modules/a: comes from https:'],
    ['plain http', { resolved: 'http://h/a-1.2.3.tgz' }, 'node_modules/a: comes from http:'],
    ['a file', { resolved: 'file:../a.tgz' }, 'node_modules/a: comes from file:'],
    ['a folder', { link: true, resolved: '../a' }, 'node_modules/a: is a link to a folder'],
    ['a version that is none', { version: 'latest' }, 'node_modules/a: has version latest'],
    ['an install script', { hasInstallScript: true }, 'node_modules/a: has an install script'],
  ])('a package with %s fails', (_what, entry, problem) => {
    project({}, entry);
    expect(problems()).toContainEqual(expect.stringContaining(problem));
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['another lockfile', { 'package-lock.json': { lockfileVersion: 2 } }, 'lockfileVersion is 2'],
    ['no packages', { 'package-lock.json': { lockfileVersion: 3 } }, 'no packages'],
    ['a caret', { 'package.json': { dependencies: { a: '^1.2.3' } } }, 'dependencies.a: ^1.2.3'],
    ['a tilde', { 'package.json': { devDependencies: { a: '~1.2.3' } } }, 'devDependencies.a: ~'],
    ['a tag', { 'package.json': { dependencies: { a: 'latest' } } }, 'dependencies.a: latest'],
    ['a deep range', { 'package.json': { overrides: { a: { b: '1' } } } }, 'overrides.a.b: 1'],
    ['an image', { Dockerfile: 'FROM x\nRUN npm i koa\n' }, 'Dockerfile:2: installs past'],
    ['a script', { 'scripts/x.mjs': "run('npm', ['install', 'koa']);" }, 'scripts/x.mjs:1: in'],
    ['the CI', { '.ci/run': 'npm install\n' }, '.ci/run:1: installs past the lockfile: npm in'],
  ])('%s fails', (_what, files, problem) => {
    project(files);
    expect(problems()).toContainEqual(expect.stringContaining(problem));
  });

  test('every line that installs past it is named, and no other', () => {
    const loose = [
      'npm install',
      'npm i -g koa',
      'npm --prefix x install',
      'npm --prefix=x --silent add koa',
      'npm -g --prefix x up',
      'npm exec koa',
      'npm x koa',
      'npm init koa',
      'npx koa',
      'yarn',
      'yarn add koa',
      'pnpm add koa',
      'pnpm dlx koa',
      'bunx koa',
      "run('npm', ['install'])",
      'run("npm", ["--prefix", x, "exec", "koa"])',
    ];
    const fine = [
      'npm ci --ignore-scripts',
      'npm run --silent lint && npm prune --omit=dev',
      'npm test -- --json --outputFile="$results"',
      'npm run update',
      "run('npm', ['ci', '--ignore-scripts'])",
      '// what npm installs',
    ];
    project({ 'scripts/x.mjs': [...fine, ...loose].join('\n') });
    expect(problems()).toEqual(
      loose.map((line, index) => {
        return `scripts/x.mjs:${fine.length + index + 1}: installs past the lockfile: ${line}`;
      }),
    );
  });

  test('what is explained passes, and an explanation of nothing fails', () => {
    const scripted = { installScripts: { 'node_modules/a': 'compiles what is there built' } };
    const loose = { looseInstalls: { 'scripts/x.mjs': { 'npm install a': 'on demand' } } };
    const explained = { ...EXPLAINED, ...scripted, ...loose };
    const files = { 'scripts/audit-explained.json': explained, 'scripts/x.mjs': 'npm install a' };
    project(files, { hasInstallScript: true });
    expect(problems()).toEqual([]);
    project({ ...files, 'scripts/x.mjs': 'npm install a\nnpm install b' });
    expect(problems()).toContain('scripts/x.mjs:2: installs past the lockfile: npm install b');
    project({ ...files, 'scripts/x.mjs': '' });
    expect(problems()).toEqual([
      'node_modules/a: is explained, and has no install script',
      'scripts/x.mjs: npm install a: is explained, and is not there',
    ]);
  });
});

describe('the advisories', () => {
  const ID = 'GHSA-aaaa-bbbb-cccc';
  const advisory = {
    source: 1,
    name: 'a',
    title: 'does harm',
    url: `https://example.com/advisories/${ID}`,
    severity: 'high',
  };
  const found = { vulnerabilities: { a: { via: [advisory] }, b: { via: ['a'] } } };

  /** With an npm that answers this. */
  function auditWith(answer: unknown, advisories = {}) {
    project({ 'scripts/audit-explained.json': { ...EXPLAINED, advisories } });
    plant({ 'npm-cli.js': `console.log(${JSON.stringify(JSON.stringify(answer))})` });
    process.env.npm_execpath = join(folder, 'npm-cli.js');
    return auditAdvisories(folder);
  }

  test('none: passes', () => {
    expect(auditWith({ vulnerabilities: {} })).toMatchObject({ problems: [], noted: [] });
  });

  test('one: fails once, by its id, however many packages are affected', () => {
    expect(auditWith(found)).toMatchObject({ problems: [`${ID}: high, a: does harm`] });
  });

  test('one that is explained: passes, and is shown with its explanation', () => {
    const noted = [`${ID}: high, a: does harm. Explained: is never called here`];
    const audited = auditWith(found, { [ID]: 'is never called here' });
    expect(audited).toMatchObject({ problems: [], noted });
  });

  test('one that is gone: its explanation must go too', () => {
    const problems = [`${ID}: is explained, and is not found any more`];
    const audited = auditWith({ vulnerabilities: {} }, { [ID]: 'was never called' });
    expect(audited).toMatchObject({ problems });
  });

  test.each([
    [{ message: '405 Method Not Allowed', error: { summary: '' } }, '405 Method Not Allowed'],
    [{ error: { code: 'ENOTFOUND', summary: 'no network' } }, 'no network'],
    ['oops', '"oops"'],
  ])('nobody to ask: neither passed nor failed, and said so', (answer, why) => {
    expect(auditWith(answer)).toEqual({ skipped: why });
  });
});
