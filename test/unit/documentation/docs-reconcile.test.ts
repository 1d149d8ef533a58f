/** docs/queries.md: its digest in Python gives what the service gives. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBucketDigest } from '../../../src/queries/digest';

const DOCS = readFileSync(join(__dirname, '../../../docs/queries.md'), 'utf8');
const PYTHON = 'python3';
const hasPython = spawnSync(PYTHON, ['--version']).status === 0;

const MATTERS = [
  { externalId: 'PR-1', bizStatus: 'PENDING', externalStatusCode: null, sourceUpdatedAt: null },
  { externalId: '报销-2', bizStatus: 'DONE', externalStatusCode: 'S1', sourceUpdatedAt: 0 },
  {
    externalId: 'x',
    bizStatus: 'DONE',
    externalStatusCode: '',
    sourceUpdatedAt: 1_717_200_000_123,
  },
];

if (!hasPython) console.warn('SKIPPED: no python3 here; the documented digest was not tried');
(hasPython ? test : test.skip)('the documented digest is that of the service', () => {
  const [, code = ''] = /```python\n([\s\S]*?)```/.exec(DOCS) ?? [];
  expect(code).toContain('def digest');
  const rows = MATTERS.map((matter) => Object.values(matter));
  const call = 'import json, sys\nprint(digest(json.load(sys.stdin)))';
  const printed = execFileSync(PYTHON, ['-c', `${code}\n${call}`], { input: JSON.stringify(rows) });
  const ours = createBucketDigest(() => 'day');
  for (const matter of MATTERS) ours.add({ ...matter, bizType: null });
  expect(printed.toString().trim()).toBe(ours.total().hash);
});

test('it has every query of its table', () => {
  const named = [...DOCS.matchAll(/^\| `((?:push-logs|matters|users|clients)\/\w+)` \|/gm)].map(
    ([, name]) => name,
  );
  expect(named).toHaveLength(10);
  for (const name of named) expect(DOCS).toContain(`\n## ${name}\n`);
});
