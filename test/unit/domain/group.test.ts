/** Groups: everything about one matter key. */
import fc from 'fast-check';
import { groupOf } from '../../../src/domain/matter';

const codes = fc.string({ unit: 'grapheme', maxLength: 20 });

test('different keys are different groups', () => {
  fc.assert(
    fc.property(codes, codes, codes, codes, (s1, e1, s2, e2) => {
      expect(groupOf(s1, e1) === groupOf(s2, e2)).toBe(s1 === s2 && e1 === e2);
    }),
  );
  expect(groupOf('A', 'B/C')).not.toBe(groupOf('A/B', 'C'));
  expect(groupOf('A', ':B')).not.toBe(groupOf('A:', 'B'));
});
