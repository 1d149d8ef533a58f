/** Each exported name of src, workers and tools stands for one thing, so that a search finds it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const DECLARED =
  /^export (?:async )?(?:type|interface|const|let|function\*?|abstract class|class|enum) (\w+)/gm;
/** `run` starts a program. `PushResult` of the client is part of its public interface. */
const EXCEPTIONS = ['run', 'PushResult'];

const files = ['src', 'workers', 'tools'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);
const byName = new Map<string, Set<string>>();
for (const file of files) {
  for (const [, name = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(DECLARED)) {
    byName.set(name, (byName.get(name) ?? new Set()).add(file));
  }
}

test('the exports are read', () => {
  expect([...(byName.get('decide') ?? [])]).toEqual(['src/domain/decide.ts']);
});

test('no two files export the same name', () => {
  const twice = [...byName].filter(([name, found]) => found.size > 1 && !EXCEPTIONS.includes(name));
  expect(twice.map(([name, found]) => `${name}: ${[...found].join(', ')}`)).toEqual([]);
});
