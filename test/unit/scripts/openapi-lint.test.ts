/** The OpenAPI document before the rules of a public linter, which knows nothing of ours. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DOCUMENT } from '../../support/openapi';

const PROJECT = join(__dirname, '../../..');
const TIMEOUT = 240_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'matter-push-openapi-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Change = (copy: typeof DOCUMENT) => void;

/** Copies of the document, each after its changes, in one run: it takes a second to start. */
function lint(copies: readonly (readonly Change[])[]) {
  const files = copies.map((changes, index) => {
    const copy = structuredClone(DOCUMENT);
    for (const change of changes) change(copy);
    const file = join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify(copy));
    return file;
  });
  const script = join(PROJECT, 'scripts/lint-openapi.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...files], {
    encoding: 'utf8',
    timeout: TIMEOUT,
  });
  return { status, told: (stdout + stderr).trim().split('\n') };
}

/** Of the example, as anybody may change it. */
type Loose = Record<string, Record<string, Record<string, unknown>>>;

const FAULTS: [what: string, change: Change, line: string][] = [
  [
    'an operation without its id',
    ({ paths }) => void delete (paths['/healthz'] as unknown as Loose).get?.operationId,
    'warn operation-operationId #/paths/~1healthz/get/operationId',
  ],
  [
    'an example that its schema does not allow',
    ({ components }) =>
      Object.assign(components.examples.RATE_LIMITED?.value as object, { code: 'no' }),
    'error no-invalid-media-type-examples #/components/examples/RATE_LIMITED/value/code',
  ],
  [
    'a component that nobody uses',
    ({ components }) => Object.assign(components.responses, { Left: { description: 'over' } }),
    'warn no-unused-components #/components/responses/Left',
  ],
  [
    'a reference to another place, which is not fetched',
    ({ components }) =>
      Object.assign(components.schemas, { Far: { $ref: 'http://127.0.0.1:1/far.json' } }),
    'error no-unresolved-refs #/components/schemas/Far',
  ],
];

describe('of two documents in one run', () => {
  let found: ReturnType<typeof lint>;
  beforeAll(() => {
    found = lint([[], FAULTS.map(([, change]) => change)]);
  }, TIMEOUT);
  const toldOf = (file: string) => found.told.filter((one) => one.startsWith(`${file}: `));

  test('nothing is to be said of the one as it is', () => {
    expect(toldOf('0.json')).toEqual([]);
  });

  test.each(FAULTS.map(([what, , line]) => [what, line] as const))(
    'in the one with faults %s is found',
    (_what, line) => {
      expect(found.status).toBe(1);
      expect(toldOf('1.json').join('\n')).toContain(line);
    },
  );

  test('every line belongs to a fault', () => {
    expect(found.told.filter((one) => !FAULTS.some(([, , line]) => one.includes(line)))).toEqual(
      [],
    );
  });
});
