/** docs/signature-causes.md has every cause, word for word. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_CAUSES, toFinding } from '../../../src/signature-diagnosis/causes';

const DOCS = readFileSync(join(__dirname, '../../../docs/signature-causes.md'), 'utf8');

test('every cause, and no other', () => {
  const rows = [...DOCS.matchAll(/^\| `(\w+)` \| (.*) \| (.*) \|$/gm)].map(([, ...cells]) => cells);
  const told = ALL_CAUSES.map((cause) => {
    const { explanation, fix } = toFinding(cause);
    return [cause, explanation.slice(0, -1), fix];
  });
  expect(rows).toEqual(told);
});
