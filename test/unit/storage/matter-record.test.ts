/** A matter survives the way into the ledger and back; only what changed is written. */
import { changedFields, toMatter, toRecord } from '../../../src/storage/ledger/matters';
import { aMatter, aParty, NOW } from '../../support/builders';

const full = aMatter({
  matterId: 2n ** 62n + 1n,
  deadlineAt: NOW,
  sourceUpdatedAt: NOW + 1,
  deletedAt: NOW + 2,
  parties: [aParty('li', 'ASSIGNEE')],
  pastHandlers: ['sun'],
});

test.each([
  ['with everything', full],
  ['with nothing optional', aMatter()],
])('a matter comes back as it went: %s', (_, matter) => {
  expect(toMatter(toRecord(matter))).toStrictEqual(matter);
});

test('a matter that was stored before there was a field has it as absent', () => {
  const { payloadJson: _, ...older } = toRecord(aMatter());
  expect(toMatter(older as ReturnType<typeof toRecord>)).toStrictEqual(aMatter());
});

test('instants are stored as dates, the id under _id', () => {
  const record = toRecord(full);
  expect(record).toMatchObject({ _id: 2n ** 62n + 1n, deadlineAt: new Date(NOW) });
  expect(record).not.toHaveProperty('matterId');
  const dates = Object.entries(record).filter(([, value]) => value instanceof Date);
  expect(dates.map(([name]) => name).sort()).toEqual([
    ...['createdAt', 'deadlineAt', 'deletedAt', 'sourceUpdatedAt', 'updatedAt'],
  ]);
});

test('only what differs is written, cleared fields as null', () => {
  const after = { ...full, title: 'other', deadlineAt: null, updatedAt: NOW + 3, revision: 6 };
  expect(changedFields(full, after)).toStrictEqual({
    title: 'other',
    deadlineAt: null,
    updatedAt: new Date(NOW + 3),
    revision: 6,
  });
  expect(changedFields(full, { ...full })).toEqual({});
});
