/** The TypeScript of docs/client.md, as a package of its own would have it: compiled, then run. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDemo } from '../../tools/local/prepare-data';
import type { SharedService } from '../support/service';
import { sharedService } from '../support/shared-service';

const ROOT = join(__dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const run = promisify(execFile);

let folder: string;
let service: SharedService;
let demo: { clientId: string; secret: string };
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'matter-push-client-'));
  await makePackage(join(folder, 'node_modules/matter-push'));
  symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  service = await sharedService();
  // The function by which npm start makes the demo client and the users that the block names.
  demo = await createDemo({ ...process.env, ...service.env, DATA_DIR: folder });
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The two steps of `npm run build`, into a folder that dependencies are found from. */
async function makePackage(target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(target, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'));
  const dist = join(target, 'dist');
  await run(process.execPath, [join(ROOT, 'scripts/build.mjs'), 'service', dist]);
  await run(process.execPath, [TSC, '-p', join(ROOT, 'tsconfig.client.json'), '--outDir', dist]);
}

const [, block = ''] =
  /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/client.md'), 'utf8')) ?? [];

/** @throws with what the compiler says in `stdout` */
async function compile(source: string): Promise<void> {
  writeFileSync(join(folder, 'push.ts'), source);
  const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
  await run(process.execPath, [TSC, ...options, 'push.ts'], { cwd: folder });
}

const start = (secret: string) =>
  run(process.execPath, ['push.js'], {
    cwd: folder,
    env: { URL: service.urlOf(), CLIENT_ID: demo.clientId, CLIENT_SECRET: secret },
  });

test('it compiles, pushes, and tells of a rejection', async () => {
  await compile(block);
  const { stdout, stderr } = await start(demo.secret);
  expect({ stdout, stderr }).toEqual({
    stdout: expect.stringMatching(/^CREATED \d+\n$/),
    stderr: '',
  });
  const rejected = await start('wrong');
  expect(rejected).toMatchObject({ stdout: '' });
  expect(rejected.stderr).toMatch(
    /^401 SIGNATURE_MISMATCH the HMAC signature does not match [0-9a-f]{24}\n$/,
  );
});

test('a body that the contract does not know is none for the compiler', async () => {
  const source = block.replace("matterType: 'TODO'", "matterType: 'TASK'");
  expect(source).not.toBe(block);
  await expect(compile(source)).rejects.toMatchObject({
    stdout: expect.stringContaining('\'"TASK"\' is not assignable'),
  });
});
