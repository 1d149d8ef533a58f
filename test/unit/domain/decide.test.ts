/**
 * What each operation does in each state: contract 4. Every row
 * says what must come out; nothing here is derived from the code.
 *
 * The matter met has watermark 2000, revision 5, an ASSIGNEE li and a CC wang, both of whom have
 * read it. The upsert names li again and a new CC zhao; the status says APPROVED.
 */
import { type Decision, decide } from '../../../src/domain/decide';
import type { Matter } from '../../../src/domain/matter';
import type { Operation } from '../../../src/domain/operation';
import {
  aDelete,
  aMatter,
  anUpsert,
  aParty,
  aRef,
  aReopen,
  aStatus,
  decisionContext,
} from '../../support/builders';

type State = 'absent' | 'draft' | 'open' | 'concluded' | 'deleted';
type Source = 'fresh' | 'equal' | 'stale' | 'none';
/** State, source; then outcome, title, phase, deleted, watermark, revision, who is unread. */
type Row = readonly [State, Source, string, string, string, boolean, number | null, number, string];

const met = aMatter({
  sourceUpdatedAt: 2000,
  parties: [aParty('li', 'ASSIGNEE'), aParty('wang', 'CC')],
});
const STATES: Record<State, Matter | undefined> = {
  absent: undefined,
  draft: { ...met, bizStatus: 'DRAFT', phase: 'DRAFT' },
  open: met,
  concluded: { ...met, bizStatus: 'DONE', phase: 'CONCLUDED' },
  deleted: { ...met, deleted: true, deletedAt: 1, phase: 'DELETED' },
};
const SOURCES: Record<Source, { sourceUpdatedAt?: number }> = {
  fresh: { sourceUpdatedAt: 3000 },
  equal: { sourceUpdatedAt: 2000 },
  stale: { sourceUpdatedAt: 1999 },
  none: {},
};

const UPSERT: readonly Row[] = [
  ['absent', 'fresh', 'CREATED', 'new title', 'OPEN', false, 3000, 1, 'li zhao'],
  ['absent', 'equal', 'CREATED', 'new title', 'OPEN', false, 2000, 1, 'li zhao'],
  ['absent', 'stale', 'CREATED', 'new title', 'OPEN', false, 1999, 1, 'li zhao'],
  ['absent', 'none', 'CREATED', 'new title', 'OPEN', false, null, 1, 'li zhao'],
  ['draft', 'fresh', 'UPDATED', 'new title', 'DRAFT', false, 3000, 6, 'zhao'],
  ['draft', 'equal', 'UPDATED', 'new title', 'DRAFT', false, 2000, 6, 'zhao'],
  ['draft', 'stale', 'STALE_IGNORED', 'old title', 'DRAFT', false, 2000, 5, ''],
  ['draft', 'none', 'UPDATED', 'new title', 'DRAFT', false, 2000, 6, 'zhao'],
  ['open', 'fresh', 'UPDATED', 'new title', 'OPEN', false, 3000, 6, 'zhao'],
  ['open', 'equal', 'UPDATED', 'new title', 'OPEN', false, 2000, 6, 'zhao'],
  ['open', 'stale', 'STALE_IGNORED', 'old title', 'OPEN', false, 2000, 5, ''],
  ['open', 'none', 'UPDATED', 'new title', 'OPEN', false, 2000, 6, 'zhao'],
  ['concluded', 'fresh', 'UPDATED', 'new title', 'CONCLUDED', false, 3000, 6, 'zhao'],
  ['concluded', 'equal', 'UPDATED', 'new title', 'CONCLUDED', false, 2000, 6, 'zhao'],
  ['concluded', 'stale', 'STALE_IGNORED', 'old title', 'CONCLUDED', false, 2000, 5, ''],
  ['concluded', 'none', 'UPDATED', 'new title', 'CONCLUDED', false, 2000, 6, 'zhao'],
  ['deleted', 'fresh', 'REVIVED', 'new title', 'OPEN', false, 3000, 6, 'zhao'],
  ['deleted', 'equal', 'REVIVED', 'new title', 'OPEN', false, 2000, 6, 'zhao'],
  ['deleted', 'stale', 'STALE_IGNORED', 'old title', 'DELETED', true, 2000, 5, ''],
  ['deleted', 'none', 'REVIVED', 'new title', 'OPEN', false, 2000, 6, 'zhao'],
];

const STATUS: readonly Row[] = [
  ['draft', 'fresh', 'UPDATED', 'old title', 'CONCLUDED', false, 3000, 6, ''],
  ['draft', 'equal', 'UPDATED', 'old title', 'CONCLUDED', false, 2000, 6, ''],
  ['draft', 'stale', 'STALE_IGNORED', 'old title', 'DRAFT', false, 2000, 5, ''],
  ['draft', 'none', 'UPDATED', 'old title', 'CONCLUDED', false, 2000, 6, ''],
  ['open', 'fresh', 'UPDATED', 'old title', 'CONCLUDED', false, 3000, 6, ''],
  ['open', 'equal', 'UPDATED', 'old title', 'CONCLUDED', false, 2000, 6, ''],
  ['open', 'stale', 'STALE_IGNORED', 'old title', 'OPEN', false, 2000, 5, ''],
  ['open', 'none', 'UPDATED', 'old title', 'CONCLUDED', false, 2000, 6, ''],
  ['concluded', 'fresh', 'UPDATED', 'old title', 'CONCLUDED', false, 3000, 6, ''],
  ['concluded', 'equal', 'UPDATED', 'old title', 'CONCLUDED', false, 2000, 6, ''],
  ['concluded', 'stale', 'STALE_IGNORED', 'old title', 'CONCLUDED', false, 2000, 5, ''],
  ['concluded', 'none', 'UPDATED', 'old title', 'CONCLUDED', false, 2000, 6, ''],
];

const REOPEN: readonly Row[] = [
  ['draft', 'fresh', 'UPDATED', 'old title', 'OPEN', false, 3000, 6, 'li'],
  ['draft', 'equal', 'UPDATED', 'old title', 'OPEN', false, 2000, 6, 'li'],
  ['draft', 'stale', 'STALE_IGNORED', 'old title', 'DRAFT', false, 2000, 5, ''],
  ['draft', 'none', 'UPDATED', 'old title', 'OPEN', false, 2000, 6, 'li'],
  ['open', 'fresh', 'UPDATED', 'old title', 'OPEN', false, 3000, 6, 'li'],
  ['open', 'equal', 'UPDATED', 'old title', 'OPEN', false, 2000, 6, 'li'],
  ['open', 'stale', 'STALE_IGNORED', 'old title', 'OPEN', false, 2000, 5, ''],
  ['open', 'none', 'UPDATED', 'old title', 'OPEN', false, 2000, 6, 'li'],
  ['concluded', 'fresh', 'UPDATED', 'old title', 'OPEN', false, 3000, 6, 'li'],
  ['concluded', 'equal', 'UPDATED', 'old title', 'OPEN', false, 2000, 6, 'li'],
  ['concluded', 'stale', 'STALE_IGNORED', 'old title', 'CONCLUDED', false, 2000, 5, ''],
  ['concluded', 'none', 'UPDATED', 'old title', 'OPEN', false, 2000, 6, 'li'],
];

const DELETE: readonly Row[] = [
  ['draft', 'fresh', 'DELETED', 'old title', 'DELETED', true, 3000, 6, ''],
  ['draft', 'equal', 'DELETED', 'old title', 'DELETED', true, 2000, 6, ''],
  ['draft', 'stale', 'STALE_IGNORED', 'old title', 'DRAFT', false, 2000, 5, ''],
  ['draft', 'none', 'DELETED', 'old title', 'DELETED', true, 2000, 6, ''],
  ['open', 'fresh', 'DELETED', 'old title', 'DELETED', true, 3000, 6, ''],
  ['open', 'equal', 'DELETED', 'old title', 'DELETED', true, 2000, 6, ''],
  ['open', 'stale', 'STALE_IGNORED', 'old title', 'OPEN', false, 2000, 5, ''],
  ['open', 'none', 'DELETED', 'old title', 'DELETED', true, 2000, 6, ''],
  ['concluded', 'fresh', 'DELETED', 'old title', 'DELETED', true, 3000, 6, ''],
  ['concluded', 'equal', 'DELETED', 'old title', 'DELETED', true, 2000, 6, ''],
  ['concluded', 'stale', 'STALE_IGNORED', 'old title', 'CONCLUDED', false, 2000, 5, ''],
  ['concluded', 'none', 'DELETED', 'old title', 'DELETED', true, 2000, 6, ''],
  ['deleted', 'fresh', 'ALREADY_DELETED', 'old title', 'DELETED', true, 3000, 6, ''],
  ['deleted', 'equal', 'ALREADY_DELETED', 'old title', 'DELETED', true, 2000, 5, ''],
  ['deleted', 'stale', 'ALREADY_DELETED', 'old title', 'DELETED', true, 2000, 5, ''],
  ['deleted', 'none', 'ALREADY_DELETED', 'old title', 'DELETED', true, 2000, 5, ''],
];

const REJECTED: readonly [string, State, Source, string][] = [
  ['status', 'absent', 'fresh', 'MATTER_NOT_FOUND'],
  ['status', 'absent', 'equal', 'MATTER_NOT_FOUND'],
  ['status', 'absent', 'stale', 'MATTER_NOT_FOUND'],
  ['status', 'absent', 'none', 'MATTER_NOT_FOUND'],
  ['status', 'deleted', 'fresh', 'MATTER_DELETED'],
  ['status', 'deleted', 'equal', 'MATTER_DELETED'],
  ['status', 'deleted', 'stale', 'MATTER_DELETED'],
  ['status', 'deleted', 'none', 'MATTER_DELETED'],
  ['reopen', 'absent', 'fresh', 'MATTER_NOT_FOUND'],
  ['reopen', 'absent', 'equal', 'MATTER_NOT_FOUND'],
  ['reopen', 'absent', 'stale', 'MATTER_NOT_FOUND'],
  ['reopen', 'absent', 'none', 'MATTER_NOT_FOUND'],
  ['reopen', 'deleted', 'fresh', 'MATTER_DELETED'],
  ['reopen', 'deleted', 'equal', 'MATTER_DELETED'],
  ['reopen', 'deleted', 'stale', 'MATTER_DELETED'],
  ['reopen', 'deleted', 'none', 'MATTER_DELETED'],
  ['delete', 'absent', 'fresh', 'MATTER_NOT_FOUND'],
  ['delete', 'absent', 'equal', 'MATTER_NOT_FOUND'],
  ['delete', 'absent', 'stale', 'MATTER_NOT_FOUND'],
  ['delete', 'absent', 'none', 'MATTER_NOT_FOUND'],
];

const upsert = anUpsert({ parties: [aRef('li'), aRef('zhao', 'CC')] });
const byName: Record<string, Operation> = {
  upsert,
  status: aStatus({ bizStatus: 'APPROVED' }),
  reopen: aReopen(),
  delete: aDelete(),
};

function run(op: string, state: State, source: Source): Decision {
  return decide(
    STATES[state],
    { ...byName[op], ...SOURCES[source] } as Operation,
    decisionContext(),
  );
}

const rowsOf = (op: string, rows: readonly Row[]) => rows.map((row) => [op, ...row] as const);
const ACCEPTED = [
  ...rowsOf('upsert', UPSERT),
  ...rowsOf('status', STATUS),
  ...rowsOf('reopen', REOPEN),
  ...rowsOf('delete', DELETE),
];

test('the tables name every operation in every state with every kind of time, each once', () => {
  const named = [...ACCEPTED, ...REJECTED].map(([op, state, source]) => `${op} ${state} ${source}`);
  expect(new Set(named).size).toBe(4 * 5 * 4);
  expect(named).toHaveLength(4 * 5 * 4);
});

test.each(ACCEPTED)(
  '%s, matter %s, time %s: %s',
  (op, state, source, outcome, title, phase, deleted, watermark, revision, unread) => {
    const decision = run(op, state, source);
    if (decision.kind !== 'accepted') throw new Error(`rejected: ${decision.reason}`);
    const { matter } = decision;
    expect({
      outcome: decision.outcome,
      matterId: matter.matterId,
      title: matter.title,
      phase: matter.phase,
      deleted: matter.deleted,
      watermark: matter.sourceUpdatedAt,
      revision: matter.revision,
      unread: matter.parties.filter((p) => p.unread).map((p) => p.username),
    }).toEqual({
      outcome,
      matterId: state === 'absent' ? 99n : 7n,
      title,
      phase,
      deleted,
      watermark,
      revision,
      unread: unread.split(' ').filter(Boolean),
    });
  },
);

test.each(REJECTED)('%s, matter %s, time %s: rejected with %s', (op, state, source, reason) => {
  expect(run(op, state, source)).toEqual({ kind: 'rejected', reason });
});

test.each(
  ACCEPTED.filter(
    ([, , source, outcome]) =>
      outcome === 'STALE_IGNORED' || (outcome === 'ALREADY_DELETED' && source !== 'fresh'),
  ),
)('%s, matter %s, time %s: %s leaves the very same matter', (op, state, source) => {
  expect(run(op, state, source)).toMatchObject({ matter: STATES[state] });
  const decision = run(op, state, source);
  expect(decision.kind === 'accepted' && decision.matter === STATES[state]).toBe(true);
});
