/** What the builds contain, when one is made again, and what the Docker image takes of them. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts'];
const TOOLS = ['client', 'matterctl', 'local', 'harness', 'bench', 'chaos'];
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
/** The folders and files that one stage of the Dockerfile copies from the project. */
const copiedBy = (stage: string) =>
  [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
const [, BUILD_STAGE = '', FINAL_STAGE = ''] = DOCKERFILE.split(/^FROM /m);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'matter-push-build-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Copies parts of the project, beside its node modules. */
function project(names: readonly string[]): void {
  for (const name of names) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

function build(...args: string[]) {
  const script = join(folder, 'scripts/build.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
  });
  return { status, text: stdout + stderr };
}

const filesIn = (name: string) =>
  readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' });

test('the image is built from what the Dockerfile copies, and contains only what runs', () => {
  project(copiedBy(BUILD_STAGE).filter((name) => name !== '.npmrc'));
  expect(BUILD_STAGE).toContain('node scripts/build.mjs service');
  expect(build('service')).toMatchObject({ status: 0 });
  expect(readdirSync(join(folder, 'dist')).sort()).toEqual([
    'browser',
    'built-from',
    'src',
    'tools',
    'workers',
  ]);
  expect(readdirSync(join(folder, 'dist/browser')).sort()).toEqual([
    ...['console', 'docs', 'manual', 'operator'],
  ]);
  expect(readdirSync(join(folder, 'dist/tools')).sort()).toEqual(['client', 'matterctl']);
  expect(filesIn('dist').filter((name) => /bench|chaos|harness/.test(name))).toEqual([]);
  for (const name of ['src/web.js', 'src/release.js', 'workers/main.js']) {
    expect(existsSync(join(folder, 'dist', name))).toBe(true);
  }
  const tool = join(folder, 'dist/tools/matterctl/matterctl.js');
  expect(readFileSync(tool, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  const help = spawnSync(process.execPath, [tool, '--help'], { encoding: 'utf8' });
  expect(help).toMatchObject({ status: 0, stderr: '' });
  // Getters would slow down each call from one module to another.
  const exported = Object.getOwnPropertyDescriptors(require(join(folder, 'dist/src/domain/fold')));
  expect(exported).toMatchObject({ fold: { value: expect.any(Function), enumerable: true } });
});

test('the image copies nothing that it does not need, and docker is given no more', () => {
  expect(copiedBy(BUILD_STAGE).sort()).toEqual([
    ...[
      '.npmrc',
      'browser',
      'docs/alerts.md',
      'docs/runbook.md',
      'package-lock.json',
      'package.json',
      'scripts/build.mjs',
    ],
    ...['scripts/lib', 'src', 'tools/client', 'tools/matterctl', 'tsconfig.json', 'workers'],
  ]);
  expect(copiedBy(FINAL_STAGE).sort()).toEqual(['examples/signing']);
  const [all, ...others] = readFileSync(join(ROOT, '.dockerignore'), 'utf8').trim().split('\n');
  expect(all).toBe('*');
  const copied = [...new Set([...copiedBy(BUILD_STAGE), ...copiedBy(FINAL_STAGE)])];
  expect(others.sort()).toEqual(copied.map((name) => `!${name}`).sort());
});

test('the image has the labels of this version, and matterctl on its PATH', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const labels = Object.fromEntries(
    [...FINAL_STAGE.matchAll(/org\.opencontainers\.image\.(\w+)="(.*)"/g)].map(
      ([, name, value]) => [name, value],
    ),
  );
  expect(labels).toEqual({
    title: 'Matter Push',
    description: manifest.description,
    version: manifest.version,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an argument of docker
    revision: '${REVISION}',
    licenses: manifest.license,
  });
  const tool = `dist/tools/matterctl/matterctl.js`;
  expect(manifest.bin.matterctl).toBe(tool);
  expect(BUILD_STAGE).toContain(`chmod +x ${tool}`);
  expect(FINAL_STAGE).toContain(`ln -s /app/${tool} /usr/local/bin/matterctl`);
});

/** The entry point of the base image, `docker-entrypoint.sh` of node. */
const ENTRY_POINT = `#!/bin/sh
set -e
if [ "\${1#-}" != "\${1}" ] || [ -z "$(command -v "\${1}")" ] || { [ -f "\${1}" ] && ! [ -x "\${1}" ]; }; then
  set -- node "$@"
fi
exec "$@"
`;

test('docker run IMAGE matterctl runs the command, in any folder', () => {
  expect(FINAL_STAGE).not.toMatch(/^(?:ENTRYPOINT|SHELL)\b/m);
  project(copiedBy(BUILD_STAGE).filter((name) => name !== '.npmrc'));
  expect(build('service')).toMatchObject({ status: 0 });
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/entry-point'), ENTRY_POINT, { mode: 0o755 });
  // What the Dockerfile does, with the folder of this test in place of /app.
  const [, file = ''] = /chmod \+x (\S+)/.exec(BUILD_STAGE) ?? [];
  chmodSync(join(folder, file), 0o755);
  const [, target = '', link = ''] =
    /ln -s \/app\/(\S+) \/usr\/local\/(\S+)/.exec(FINAL_STAGE) ?? [];
  symlinkSync(join(folder, target), join(folder, link));
  const shown = spawnSync(join(folder, 'bin/entry-point'), ['matterctl', '--version'], {
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
  });
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(shown).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
});

test('a build is made again when its sources differ, and a larger one does for a smaller one', () => {
  project([
    ...[...SETTINGS, 'src/domain', 'src/files', 'src/protocol', 'src/queries', 'browser'],
    ...['docs/alerts.md', 'docs/runbook.md'],
  ]);
  for (const name of ['src', 'workers', ...TOOLS.map((it) => `tools/${it}`)]) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'main.ts'), 'export const main = 1;\n');
  }
  writeFileSync(join(folder, 'src/old.ts'), 'export const old = 1;\n');
  const built = (extent: string) => {
    const { status, text } = build(extent);
    expect({ status, text }).toEqual({ status: 0, text: expect.any(String) });
    return !text.includes('The build is up to date');
  };
  expect([built('start'), built('start'), built('service')]).toEqual([true, false, false]);
  appendFileSync(join(folder, 'tools/bench/main.ts'), '\nexport const more = 1;\n');
  expect([built('start'), built('all'), built('start'), built('all')]).toEqual([
    ...[false, true, false, false],
  ]);
  appendFileSync(join(folder, 'browser/console/kit/route.js'), '\nexport const more = 1;\n');
  expect([built('all'), built('all')]).toEqual([true, false]);
  appendFileSync(join(folder, 'docs/alerts.md'), '\nOne more sentence.\n');
  expect([built('all'), built('all')]).toEqual([true, false]);
  rmSync(join(folder, 'src/old.ts'));
  appendFileSync(join(folder, 'tools/local/main.ts'), '\nexport const more = 1;\n');
  expect([built('start'), built('all')]).toEqual([true, true]);
  expect(existsSync(join(folder, 'dist/src/old.js'))).toBe(false);
  writeFileSync(join(folder, 'dist/built-from'), 'cut short');
  expect(built('start')).toBe(true);
  writeFileSync(join(folder, 'src/main.ts'), 'export const = 1;\n');
  expect(build('start')).toMatchObject({ status: 1 });
  expect(build('start').text).toMatch(/The build failed: .*\n.*src\/main\.ts:1:13/);
  expect(existsSync(join(folder, 'dist/src/main.js'))).toBe(true);
});
