/** Decides the effect of one operation on one matter (contract 4). */
import { EMPTY_CONTENT, type Matter, phaseOf, priorityRank } from './matter';
import type { Delete, Operation, Reopen, Status, Upsert } from './operation';
import { ASSIGNED_ID_PREFIX } from './operation';
import { changeParties, MAX_PARTIES, removeParties, resetAssigneeUnread } from './parties';

/** `data.outcome` of the answer (contract 2.4). */
export type Outcome = (typeof OUTCOMES)[number];

export const OUTCOMES = [
  'CREATED',
  'UPDATED',
  'STALE_IGNORED',
  'REVIVED',
  'DELETED',
  'ALREADY_DELETED',
] as const;

export type RejectReason =
  | 'MATTER_NOT_FOUND'
  | 'MATTER_DELETED'
  | 'EXTERNAL_ID_RESERVED'
  | 'TOO_MANY_PARTIES';

export type Decision =
  | { readonly kind: 'accepted'; readonly outcome: Outcome; readonly matter: Matter }
  | { readonly kind: 'rejected'; readonly reason: RejectReason };

export interface DecisionContext {
  readonly systemCode: string;
  readonly externalId: string;
  readonly now: number;
  /** Used only if the operation creates the matter. */
  readonly newMatterId: bigint;
  readonly names: ReadonlyMap<string, string>;
  /** The statuses that conclude a matter (CONCLUDED_STATUSES). */
  readonly concluded: ReadonlySet<string>;
}

/** Never throws; the same input always gives the same decision. */
export function decide(
  matter: Matter | undefined,
  op: Operation,
  context: DecisionContext,
): Decision {
  if (matter && isStale(matter, op)) return accepted('STALE_IGNORED', matter);
  switch (op.op) {
    case 'upsert':
      return decideUpsert(matter, op, context);
    case 'status':
    case 'reopen':
      return decideStatus(matter, op, context);
    case 'delete':
      return decideDelete(matter, op, context);
    default:
      return op satisfies never;
  }
}

/** Equal times are not stale (contract 4.5). */
function isStale(matter: Matter, op: Operation): boolean {
  // On a deleted matter, only an upsert can be stale.
  if (matter.deleted && op.op !== 'upsert') return false;
  return (
    op.sourceUpdatedAt !== undefined &&
    matter.sourceUpdatedAt !== null &&
    op.sourceUpdatedAt < matter.sourceUpdatedAt
  );
}

function decideUpsert(matter: Matter | undefined, op: Upsert, context: DecisionContext): Decision {
  if (!matter && !op.assignedId && context.externalId.startsWith(ASSIGNED_ID_PREFIX)) {
    return { kind: 'rejected', reason: 'EXTERNAL_ID_RESERVED' };
  }
  const base = matter ?? newMatter(op, context);
  const merged = op.parties
    ? changeParties(base, op.parties, op.replaceParties, context.names)
    : base;
  const { parties, pastHandlers } = op.removeParties
    ? removeParties(merged, op.removeParties)
    : merged;
  if (parties.length > MAX_PARTIES) {
    return { kind: 'rejected', reason: 'TOO_MANY_PARTIES' };
  }
  // The spread must be last for speed (see `newMatter`).
  const changes: Partial<Matter> = {
    matterType: op.matterType,
    title: op.title,
    bizStatus: op.bizStatus ?? base.bizStatus,
    parties,
    pastHandlers,
    deleted: false,
    deletedAt: null,
    ...op.content,
  };
  const outcome = !matter ? 'CREATED' : matter.deleted ? 'REVIVED' : 'UPDATED';
  return accepted(outcome, applyChanges(base, op, changes, context));
}

function decideStatus(
  matter: Matter | undefined,
  op: Status | Reopen,
  context: DecisionContext,
): Decision {
  if (!matter) return { kind: 'rejected', reason: 'MATTER_NOT_FOUND' };
  if (matter.deleted) return { kind: 'rejected', reason: 'MATTER_DELETED' };
  const fallback = op.op === 'reopen' ? 'REOPENED' : matter.bizStatus;
  const { parties, pastHandlers } =
    op.op === 'status' && op.removeParties ? removeParties(matter, op.removeParties) : matter;
  const changes: Partial<Matter> = {
    bizStatus: op.bizStatus ?? fallback,
    parties: op.resetAssigneeUnread ? resetAssigneeUnread(parties) : parties,
    pastHandlers,
    ...(op.externalStatusCode !== undefined && { externalStatusCode: op.externalStatusCode }),
    ...(op.externalStatusLabel !== undefined && { externalStatusLabel: op.externalStatusLabel }),
  };
  return accepted('UPDATED', applyChanges(matter, op, changes, context));
}

function decideDelete(matter: Matter | undefined, op: Delete, context: DecisionContext): Decision {
  if (!matter) return { kind: 'rejected', reason: 'MATTER_NOT_FOUND' };
  if (matter.deleted) {
    // Stores a newer `sourceUpdatedAt`, so that an upsert with an older time cannot revive the matter.
    const newer = (op.sourceUpdatedAt ?? 0) > (matter.sourceUpdatedAt ?? -1);
    return accepted('ALREADY_DELETED', newer ? applyChanges(matter, op, {}, context) : matter);
  }
  const changes = { deleted: true, deletedAt: context.now };
  return accepted('DELETED', applyChanges(matter, op, changes, context));
}

function accepted(outcome: Outcome, matter: Matter): Decision {
  return { kind: 'accepted', outcome, matter };
}

function newMatter(op: Upsert, context: DecisionContext): Matter {
  // The spread must be last: V8 is much slower if properties follow a spread.
  return {
    matterId: context.newMatterId,
    systemCode: context.systemCode,
    externalId: context.externalId,
    matterType: op.matterType,
    title: op.title,
    bizStatus: 'PENDING',
    phase: 'OPEN',
    priorityRank: 1,
    parties: [],
    pastHandlers: [],
    sourceUpdatedAt: null,
    deleted: false,
    createdAt: context.now,
    updatedAt: context.now,
    deletedAt: null,
    revision: 0,
    ...EMPTY_CONTENT,
  };
}

/** If nothing changed, returns `matter` itself: callers compare matters by identity. */
function applyChanges(
  matter: Matter,
  op: Operation,
  changes: Partial<Matter>,
  context: DecisionContext,
): Matter {
  // Copies the matter only once, for speed.
  const after: { -readonly [Field in keyof Matter]: Matter[Field] } = { ...matter, ...changes };
  after.phase = phaseOf(after.bizStatus, after.deleted, context.concluded);
  after.priorityRank = priorityRank(after.priority);
  after.sourceUpdatedAt = op.sourceUpdatedAt ?? matter.sourceUpdatedAt;
  const fields = Object.keys(after) as (keyof Matter)[];
  const isNew = matter.revision === 0;
  if (!isNew && fields.every((field) => after[field] === matter[field])) return matter;
  after.updatedAt = context.now;
  after.revision = matter.revision + 1;
  return after;
}
