/** docs/reliability.md says what the check of a chaos run holds it against. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PROMISES } from '../../../tools/chaos/check/evidence';
import { MECHANISMS } from '../../../tools/chaos/mechanisms';

const text = readFileSync(path.resolve(__dirname, '../../../docs/reliability.md'), 'utf8');

test.each(Object.entries(PROMISES))('it has the rule %s in its words', (rule, promise) => {
  expect(text).toContain(`| \`${rule}\` | ${promise} |`);
});

test.each(Object.keys(MECHANISMS))('it tells what is gone without %s', (name) => {
  expect(text).toMatch(new RegExp(`\\| \`${name}\` \\|`));
});
