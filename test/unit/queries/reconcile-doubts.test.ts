/** Ids that a spreadsheet has changed, or that look like another one: no second matter is made of them. */
import { findInvisibleCharacter, lookAlike } from '../../../src/protocol/look-alike';
import { createDoubtFinder } from '../../../src/queries/reconcile/doubts';
import { createRepushLine } from '../../../src/queries/reconcile/repush';

/** @param file ids of the file @param open ids that are open here and not in the file */
const doubtsOf = (file: string[], open: string[]) => {
  return createDoubtFinder(new Set(file), open);
};

test.each<[string, string, string[], object | undefined]>([
  ['an exponent', '1.10105E+17', [], { kind: 'DAMAGED_ID', probableId: undefined }],
  ['an exponent of one digit', '4E+15', [], { kind: 'DAMAGED_ID' }],
  ['an exponent with a decimal comma', '1,10105E+17', [], { kind: 'DAMAGED_ID' }],
  [
    'a direction mark, which is not here without it',
    '\u202aCH-9',
    [],
    { kind: 'LOOK_ALIKE', probableId: 'CH-9' },
  ],
  ['lost zeros', '123', ['00123'], { kind: 'DAMAGED_ID', probableId: '00123' }],
  [
    'zeros in place of digits',
    '110105198001011000',
    ['110105198001011234'],
    { kind: 'DAMAGED_ID', probableId: '110105198001011234' },
  ],
  ['a blank more', 'CH-9 ', ['CH-9'], { kind: 'LOOK_ALIKE', probableId: 'CH-9' }],
  ['blanks fewer', 'CH-9', ['CH-9     '], { kind: 'LOOK_ALIKE', probableId: 'CH-9     ' }],
  [
    'an ideographic space',
    'CH-9',
    ['CH-9\u3000'],
    { kind: 'LOOK_ALIKE', probableId: 'CH-9\u3000' },
  ],
  ['a mark', 'CH-9', ['\ufeffCH-9'], { kind: 'LOOK_ALIKE' }],
  ['a character without width', 'CH-9', ['CH\u200b-9'], { kind: 'LOOK_ALIKE' }],
  ['a number that is no other', '123', ['124', '0123x'], undefined],
  ['another beginning', '110105198001011000', ['110105198001012234'], undefined],
  ['another length', '110105198001011000', ['11010519800101123'], undefined],
  ['no zeros at its end', '110105198001011231', ['110105198001011234'], undefined],
  ['a code with E', '12E5', ['12'], undefined],
  ['case', 'ch-9', ['CH-9'], undefined],
])('%s', (_, id, open, doubt) => {
  const found = doubtsOf([id], open)(id);
  if (doubt) expect(found).toMatchObject(doubt);
  else expect(found).toBeUndefined();
});

test('what was done to one id of a file is feared for those of the same form', () => {
  const doubtOf = doubtsOf(['123', '77', '123456', 'A-1'], ['00123']);
  expect(doubtOf('77')).toEqual({ kind: 'DAMAGED_ID', probableId: undefined });
  expect(doubtOf('123456')).toBeUndefined();
  expect(doubtOf('A-1')).toBeUndefined();
  const long = doubtsOf(['110105198001011000', '220105198001011000'], ['110105198001011234']);
  expect(long('220105198001011000')).toEqual({ kind: 'DAMAGED_ID', probableId: undefined });
});

test('two ids of one file may look alike, too', () => {
  const doubtOf = doubtsOf(['CH-9', 'CH-9 '], []);
  expect(doubtOf('CH-9')).toEqual({ kind: 'LOOK_ALIKE', probableId: 'CH-9 ' });
  expect(doubtOf('CH-9 ')).toEqual({ kind: 'LOOK_ALIKE', probableId: 'CH-9' });
});

test.each(['DAMAGED_ID', 'LOOK_ALIKE'] as const)('nothing is pushed for %s', (finding) => {
  const row = {
    kind: 'row',
    expected: { externalId: '123' },
    pushed: { matterType: 'TODO', title: 't' },
  } as const;
  const options = { overwriteNewer: true, formatLocal: String };
  const differing = { expectedMatter: row, stored: undefined, findings: [finding] };
  expect(createRepushLine(differing, options)).toBe(finding);
});

test.each([
  ['CH-9', undefined],
  ['审批 1', undefined],
  [' CH-9', { position: 1, codePoint: 'U+0020' }],
  ['CH-9  ', { position: 5, codePoint: 'U+0020' }],
  ['CH-9\u3000', { position: 5, codePoint: 'U+3000' }],
  ['\ufeffCH-9', { position: 1, codePoint: 'U+FEFF' }],
  ['C\u200bH-9 ', { position: 2, codePoint: 'U+200B' }],
  ['🚀\u200d9', { position: 2, codePoint: 'U+200D' }],
])('%j: what is easily overlooked in it', (id, found) => {
  expect(findInvisibleCharacter(id)).toEqual(found);
  expect(lookAlike(id) === id).toBe(found === undefined);
});
