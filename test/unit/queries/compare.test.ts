/** How what is here differs from what another system believes: every rule, and that they add up. */
import {
  compareWithLedger,
  type ExpectedFields,
  type LedgerValues,
} from '../../../src/queries/compare';

const held = (over: Partial<LedgerValues> = {}): LedgerValues => ({
  bizStatus: 'PENDING',
  externalStatusCode: 'S1',
  sourceUpdatedAt: 2_000,
  deleted: false,
  ...over,
});
const DELETED = held({ deleted: true });
const NEVER_STAMPED = held({ sourceUpdatedAt: null });
const NO_CODE = held({ externalStatusCode: null });

test.each<[string, Omit<ExpectedFields, 'externalId'>, LedgerValues | undefined, string[]]>([
  ['nothing expected', {}, held(), []],
  [
    'all the same',
    { bizStatus: 'PENDING', externalStatusCode: 'S1', sourceUpdatedAt: 2_000 },
    held(),
    [],
  ],
  ['not deleted on either side', { deleted: false }, held(), []],

  ['not here', {}, undefined, ['MISSING']],
  ['not here, whatever is expected', { bizStatus: 'DONE' }, undefined, ['MISSING']],
  ['not here and expected not deleted', { deleted: false }, undefined, ['MISSING']],
  ['not here and deleted there', { deleted: true }, undefined, []],

  ['deleted here', {}, DELETED, ['DELETED']],
  ['deleted here only, other differences do not matter', { bizStatus: 'X' }, DELETED, ['DELETED']],
  ['deleted here and expected not deleted', { deleted: false }, DELETED, ['DELETED']],
  ['deleted on both sides', { deleted: true }, DELETED, []],
  ['deleted on both sides, in another state', { deleted: true, bizStatus: 'X' }, DELETED, []],
  ['deleted there only', { deleted: true }, held(), ['NOT_DELETED']],
  [
    'deleted there only, nothing else is said',
    { deleted: true, bizStatus: 'X', sourceUpdatedAt: 9_000 },
    held(),
    ['NOT_DELETED'],
  ],

  ['ours is older', { sourceUpdatedAt: 2_001 }, held(), ['STALE_HERE']],
  ['we have no instant, they have', { sourceUpdatedAt: 0 }, NEVER_STAMPED, ['STALE_HERE']],
  ['ours is newer', { sourceUpdatedAt: 1_999 }, held(), ['NEWER_HERE']],
  ['they have no instant, we have', { sourceUpdatedAt: null }, held(), ['NEWER_HERE']],
  ['nobody has an instant', { sourceUpdatedAt: null }, NEVER_STAMPED, []],
  ['theirs is not told', {}, NEVER_STAMPED, []],

  ['another bizStatus', { bizStatus: 'DONE' }, held(), ['STATUS_DIFFERS']],
  ['another code', { externalStatusCode: 'S2' }, held(), ['STATUS_DIFFERS']],
  ['no code there', { externalStatusCode: null }, held(), ['STATUS_DIFFERS']],
  ['no code here', { externalStatusCode: 'S1' }, NO_CODE, ['STATUS_DIFFERS']],
  ['no code on either side', { externalStatusCode: null }, NO_CODE, []],
  ['an empty code is none', { externalStatusCode: '' }, NO_CODE, []],
  ['none is an empty code', { externalStatusCode: null }, held({ externalStatusCode: '' }), []],
  [
    'both bizStatus and code, said once',
    { bizStatus: 'DONE', externalStatusCode: 'S2' },
    held(),
    ['STATUS_DIFFERS'],
  ],

  [
    'older and another status, in this order',
    { bizStatus: 'DONE', sourceUpdatedAt: 3_000 },
    held(),
    ['STALE_HERE', 'STATUS_DIFFERS'],
  ],
  [
    'newer and another status, in this order',
    { externalStatusCode: 'S9', sourceUpdatedAt: 1_000 },
    held(),
    ['NEWER_HERE', 'STATUS_DIFFERS'],
  ],
])('%s', (_, expected, here, differences) => {
  expect(compareWithLedger({ externalId: 'HD-1', ...expected }, here)).toEqual(differences);
});
