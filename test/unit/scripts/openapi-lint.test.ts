/** The OpenAPI document before the rules of a public linter, which knows nothing of ours. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DOCUMENT } from '../../support/openapi';

const PROJECT = join(__dirname, '../../..');
const TIMEOUT = 60_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'matter-push-openapi-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Change = (copy: typeof DOCUMENT) => void;

/** Of copies of the document, each after a change, in one run: it takes seconds to start. */
function lint(changes: readonly Change[]) {
  const files = changes.map((change, index) => {
    const copy = structuredClone(DOCUMENT);
    change(copy);
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

test(
  'nothing is to be said of it',
  () => expect(lint([() => undefined])).toEqual({ status: 0, told: [''] }),
  TIMEOUT,
);

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

describe('what is wrong is found', () => {
  let found: ReturnType<typeof lint>;
  beforeAll(() => {
    found = lint(FAULTS.map(([, change]) => change));
  }, TIMEOUT);

  test.each(FAULTS.map(([what, , line], index) => [what, index, line] as const))(
    '%s',
    (_what, index, line) => {
      expect(found.status).toBe(1);
      const told = found.told.filter((one) => one.startsWith(`${index}.json: `));
      expect(told.join('\n')).toContain(line);
    },
  );
});
