/** The bounds of a body's structure: no legal body meets them, and nothing beyond them is parsed. */
import fc from 'fast-check';
import {
  MAX_BRACKETS,
  MAX_COMMAS,
  MAX_JSON_DEPTH,
  structureProblem,
} from '../../../src/protocol/json-body';

const problemOf = (text: string, around?: number) =>
  structureProblem(Buffer.from(text), around)?.english;

const users = (count: number, role: string) =>
  Array.from({ length: count }, (_, n) => ({ username: `user-${n}`, partyRole: role }));

test('the largest legal bodies are within them, with room for as much again', () => {
  const push = {
    ...{ matterType: 'TODO', externalId: 'A', title: '[{,'.repeat(100), summary: '"\\[' },
    ...{ payloadJson: JSON.stringify([[1, 2], { a: 1 }]), replaceParties: false },
    parties: users(500, 'ASSIGNEE'),
    removeParties: users(500, 'CC'),
  };
  const row = { externalId: 'A', bizStatus: 'DONE', externalStatusCode: '1', deleted: false };
  const lines = Array.from({ length: 1_000 }, () => ({ ...row, sourceUpdatedAt: 1 }));
  for (const body of [push, { lines }, { operation: 'upsert', push }]) {
    const twice = JSON.stringify({ one: body, other: body });
    expect(problemOf(JSON.stringify(body))).toBeUndefined();
    expect(problemOf(twice)).toBeUndefined();
  }
});

test.each([
  ['depth', '['.repeat(MAX_JSON_DEPTH), '['.repeat(MAX_JSON_DEPTH + 1), /32 levels/],
  [
    'objects and lists',
    `[${'{}[]'.repeat((MAX_BRACKETS - 2) / 2)}]`,
    `[${'{}[]'.repeat(MAX_BRACKETS / 2)}]`,
    /2500 objects and lists/,
  ],
  ['fields and elements', ','.repeat(MAX_COMMAS), ','.repeat(MAX_COMMAS + 1), /10000 fields/],
])('%s are counted, one more than allowed is too many', (_, most, more, words) => {
  expect(problemOf(most)).toBeUndefined();
  expect(problemOf(more)).toMatch(words);
});

test('what stands in a text does not count', () => {
  const text = '[{,"\\'.repeat(10_000);
  expect(problemOf(JSON.stringify({ [text]: text }))).toBeUndefined();
  expect(problemOf(`"${'['.repeat(100)}`)).toBeUndefined();
  expect(problemOf(`"\\"${'['.repeat(100)}"`)).toBeUndefined();
  expect(problemOf(`"\\\\"${'['.repeat(100)}`)).toMatch(/levels/);
});

/** The deepest nesting, as a walk through the parsed value finds it. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('of any JSON it finds the depth that its value has', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 10 }), (text) => {
      const depth = depthOf(JSON.parse(text));
      expect(problemOf(text, depth - MAX_JSON_DEPTH)).toBeUndefined();
      if (depth > 0) expect(problemOf(text, depth - 1 - MAX_JSON_DEPTH)).toMatch(/levels/);
    }),
  );
});
