/** The words of `titleContains`: how they are read, and which titles have all of them. */
import { createMatterQueryReaders } from '../../../src/protocol/matter-queries';
import { titleConditions } from '../../../src/storage/ledger/title-words';

const { query } = createMatterQueryReaders('Asia/Shanghai');

/** MongoDB compares letters as JavaScript does with these flags. */
const isFound = (title: string, words: string) =>
  titleConditions(words).every(({ title: { $regex, $options } }) =>
    new RegExp($regex, `${$options}u`).test(title),
  );

test.each([
  ['LAPTOP', true],
  ['for  laptop', true],
  ['top', true],
  ['采购\u3000Laptop', true],
  ['ÄRGER', true],
  ['laptop phone', false],
  ['laptopfor', false],
  // Literal: each of these would match as an expression.
  ['.', false],
  ['l.ptop', false],
  ['laptop|x', false],
  ['^采购', false],
  ['[a-z]', false],
  ['lapto(p)', false],
  ['\\w+', false],
  ['$', false],
])('a title is found by %j: %j', (words, expected) => {
  expect(isFound('采购 Laptop for ärger', words)).toBe(expected);
});

test.each(['100% (a+b)*c', 'C:\\new', 'a.b|c', '^start$', 'x{2}', '[草稿]', 'a/b?', 'a-b'])(
  'the title %j is found by itself',
  (title) => {
    expect(isFound(`before ${title} after`, title)).toBe(true);
  },
);

test.each([
  [' 采购  laptop ', '采购  laptop'],
  ['x', 'x'],
  ['x'.repeat(100), 'x'.repeat(100)],
  [`${' '.repeat(50)}${'x'.repeat(100)}`, 'x'.repeat(100)],
  [null, undefined],
])('%j is read as %j', (titleContains, expected) => {
  expect(query({ titleContains }).titleContains).toBe(expected);
});

test.each([
  '',
  ' \u3000',
  'x'.repeat(101),
  'a\tb',
  'a\nb',
  'a\u0000',
  'a\u0085b',
  '\ud800',
  1,
  ['a'],
  { $ne: '' },
])('%j is rejected', (titleContains) => {
  expect(() => query({ titleContains })).toThrow(
    expect.objectContaining({
      code: 400,
      errors: [expect.objectContaining({ field: 'titleContains' })],
    }),
  );
});
