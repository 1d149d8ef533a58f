#!/usr/bin/env node
/**
 * npm run screenshots -- <folder> [folder with fonts]: takes pictures of every screen in both languages, 1280 and 390
 * pixels wide, light and dark. On a machine without Chinese fonts, name a folder with fonts.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [folder, fonts] = process.argv.slice(2);
if (!folder) {
  process.stderr.write('Usage: npm run screenshots -- <folder> [folder with fonts]\n');
  process.exit(2);
}
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const args = [join(root, 'scripts/up.mjs'), 'test', 'test/soak/screens.e2e.test.ts'];
const env = {
  ...process.env,
  SCREENSHOTS: resolve(folder),
  ...(fonts && { SCREENSHOT_FONTS: resolve(fonts) }),
};
process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? 1;
