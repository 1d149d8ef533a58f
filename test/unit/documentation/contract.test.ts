/** docs/contract.md has each section that a comment cites, as `contract 4.2` or `contract 4.1 to 4.4`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const FOLDERS = ['src', 'workers', 'tools', 'test', 'browser'];
const SECTIONS = new Set(
  [
    ...readFileSync(join(ROOT, 'docs/contract.md'), 'utf8').matchAll(/^#{2,3} (\d+(?:\.\d+)?)/gm),
  ].map(([, number = '']) => number),
);

/** By file: the sections that it cites. */
const cited = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|js)$/.test(name))
    .map((name): [string, string[]] => {
      const text = readFileSync(join(ROOT, folder, name), 'utf8');
      const lists = text.matchAll(
        /\bcontract (\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)/gi,
      );
      return [
        `${folder}/${name}`,
        [...lists].flatMap(([, list = '']) => list.match(/[\d.]+/g) ?? []),
      ];
    })
    .filter(([, sections]) => sections.length > 0),
);

test('the code cites the contract', () => {
  expect(cited.map(([file]) => file)).toContain('src/domain/decide.ts');
});

test.each(cited)('%s cites sections that exist', (_, sections) => {
  for (const section of sections) expect([...SECTIONS]).toContain(section);
});

test('no section is there twice', () => {
  const text = readFileSync(join(ROOT, 'docs/contract.md'), 'utf8');
  expect(text.match(/^#{2,3} \d/gm)).toHaveLength(SECTIONS.size);
});
