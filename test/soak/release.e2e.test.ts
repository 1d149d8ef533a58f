/** `npm run release:check`: the same files from the same commit, and an image context that builds. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const FILES = [
  `matter-push-${version}-image.tar`,
  `matter-push-${version}-sbom.json`,
  `matter-push-cli-${version}.tgz`,
  `matter-push-client-${version}.tgz`,
];
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'matter-push-release-'));
const [first, second] = [join(folder, 'first'), join(folder, 'second')];
const read = (name: string) => readFileSync(join(first, name));

beforeAll(async () => {
  // One after the other, and in another time zone: neither may show.
  for (const [target, TZ] of [
    [first, 'Asia/Shanghai'],
    [second, 'UTC'],
  ] as const) {
    const args = [join(ROOT, 'scripts/release-check.mjs'), '--allow-dirty', target];
    const { stdout } = await run(process.execPath, args, { env: { ...process.env, TZ } });
    expect(stdout.trim().split('\n')).toEqual(FILES);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('two runs give the same checksums, which are those of the files', () => {
  expect(readdirSync(first).sort()).toEqual(['SHA256SUMS', ...FILES]);
  const sums = FILES.map(
    (name) => `${createHash('sha256').update(read(name)).digest('hex')}  ${name}\n`,
  );
  expect(read('SHA256SUMS').toString()).toBe(sums.join(''));
  expect(readFileSync(join(second, 'SHA256SUMS'), 'utf8')).toBe(sums.join(''));
});

test('the SBOM names what is deployed, and none of the tools', () => {
  const { bomFormat, serialNumber, metadata, components } = JSON.parse(
    read(`matter-push-${version}-sbom.json`).toString(),
  );
  expect({ bomFormat, serialNumber }).toEqual({ bomFormat: 'CycloneDX', serialNumber: undefined });
  expect(metadata.timestamp).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(metadata.component).toMatchObject({ name: 'matter-push', version });
  const names = components.map(({ name }: { name: string }) => name);
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  expect(names.filter((name: string) => name in devDependencies)).toEqual([]);
});

test('the image context has what docker reads, and what the Dockerfile builds', async () => {
  const context = join(folder, 'context');
  mkdirSync(context);
  await run('tar', ['-xf', join(first, FILES[0] ?? ''), '-C', context]);
  expect(readdirSync(context).sort()).toEqual([
    ...[
      '.dockerignore',
      '.npmrc',
      'Dockerfile',
      'browser',
      'docs',
      'examples',
      'package-lock.json',
    ],
    ...['package.json', 'scripts', 'src', 'tools', 'tsconfig.json', 'workers'],
  ]);
  symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'));
  await run(process.execPath, ['scripts/build.mjs', 'service'], { cwd: context });
  const tool = join(context, 'dist/tools/matterctl/matterctl.js');
  expect((await run(process.execPath, [tool, '--version'])).stdout).toBe(`${version}\n`);
});
