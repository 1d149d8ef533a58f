/**
 * Makes the packages `@matter-push/client` and `@matter-push/cli`. A package contains the modules that its entry file
 * reaches, compiled one by one and in the tree of the sources, as in dist/. So `matterctl` loads its modules on
 * demand in the package too.
 */
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileModules, reachedFrom, scriptsBeside } from './build.mjs';
import { writeClientTypes } from './client-types.mjs';
import { npmCommand } from './node-modules.mjs';
import { runQuietly, SetupError } from './progress.mjs';

const CLIENT = 'tools/client/matter-push-client';
const CLI = 'tools/matterctl/matterctl';
export const PACKAGES = [
  {
    name: '@matter-push/client',
    description:
      'Client of a Matter Push service: signs pushes, retries, and keeps the order of each matter',
    entry: CLIENT,
    readme: 'tools/client/README.md',
    own: {
      main: `${CLIENT}.js`,
      types: `${CLIENT}.d.ts`,
      exports: { '.': { types: `./${CLIENT}.d.ts`, default: `./${CLIENT}.js` } },
    },
    complete: writeClientTypes,
  },
  {
    name: '@matter-push/cli',
    description: 'matterctl, the command line of a Matter Push service',
    entry: CLI,
    readme: 'tools/matterctl/README.md',
    own: { bin: { matterctl: `${CLI}.js` } },
    complete: (_root, folder) => chmodSync(join(folder, `${CLI}.js`), 0o755),
  },
];

/**
 * Writes a tarball for each package.
 * @returns {Promise<string[]>} the names of the tarballs
 * @throws {SetupError} if a package cannot be made
 */
export const makePackages = (root, outdir) =>
  Promise.all(PACKAGES.map((one) => makePackage(root, one, outdir)));

async function makePackage(root, { name, description, entry, readme, own, complete }, outdir) {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-package-'));
  try {
    const { modules, packages } = await reachedFrom(root, `${entry}.ts`);
    await compileModules(root, modules, folder);
    for (const script of scriptsBeside(root, modules))
      cpSync(join(root, script), join(folder, script));
    await complete(root, folder);
    cpSync(join(root, readme), join(folder, 'README.md'));
    cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    const { version, license, engines } = readJson(root, 'package.json');
    const dependencies = versionsOf(root, packages);
    const manifest = { name, version, description, license, engines, ...own, dependencies };
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    return await pack(folder, outdir);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const readJson = (root, name) => JSON.parse(readFileSync(join(root, name), 'utf8'));

/** The versions of the lockfile, with which the tests run. */
function versionsOf(root, packages) {
  const locked = readJson(root, 'package-lock.json').packages;
  return Object.fromEntries(packages.map((name) => [name, locked[`node_modules/${name}`].version]));
}

async function pack(folder, outdir) {
  const [command, ...first] = npmCommand();
  const args = [...first, 'pack', '--silent', '--ignore-scripts', '--pack-destination', outdir];
  const { ok, output } = await runQuietly(command, args, { cwd: folder });
  if (!ok) throw new SetupError(`npm pack failed: ${output}`);
  return output.slice(output.lastIndexOf('\n') + 1);
}
