/** The line of a push that a resend does not send again. */
import { linesOf } from '../../../src/pushes/resend-lines';
import { aLogEntry } from '../../support/log-entries';

const linesOfResent = (effect: ReturnType<typeof aLogEntry> | undefined) => {
  const entry = aLogEntry({ state: 'REFUSED', externalId: 'A' });
  const by = String((effect ?? entry)._id);
  const planned = { kind: 'skipped', entry, why: 'ALREADY_RESENT', by } as const;
  return linesOf([String(entry._id)], [{ planned, lines: [1], effect }]);
};

test('a push that took effect is answered with its outcome', () => {
  const effect = aLogEntry({
    state: 'PERSISTED',
    result: 'CREATED',
    matterId: 7n,
    externalId: 'A',
  });
  const answer = { replayed: true, data: { matterId: '7', outcome: 'CREATED' } };
  expect(linesOfResent(effect)).toMatchObject([{ sent: false, answer }]);
});

test.each([
  ['is missing', undefined],
  ['counts as queued', aLogEntry({ externalId: 'A' })],
])('a push is still queued while the entry of its effect %s', (_, effect) => {
  expect(linesOfResent(effect)).toMatchObject([
    { sent: false, answer: { reason: 'STILL_QUEUED' } },
  ]);
});
