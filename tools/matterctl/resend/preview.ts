/** The dry run: what sending pushes again would change, folded over the ledger as it is now. */
import { changesOf, type FieldChange } from '../../../src/domain/changes';
import { fold, type PriorResult } from '../../../src/domain/fold';
import { groupOf } from '../../../src/domain/group';
import type { Matter } from '../../../src/domain/matter';
import { PushError } from '../../../src/protocol/errors';
import { type LoggedPush, resendFingerprint, validateAgain } from '../../../src/pushes/resend-push';
import type { ValidatePush, ValidPush } from '../../../src/pushes/validate-push';
import type { Ledger } from '../../../src/storage/ledger/matters';
import { type LogLookups, REPLAY_WINDOW } from '../../../src/storage/push-log/lookups';

export interface Preview {
  readonly requestId: string;
  readonly systemCode: string;
  readonly externalId: string | null;
  readonly operation: string;
  readonly accepted: boolean;
  /** The outcome, or the reason of the rejection. */
  readonly result: string;
  readonly changes: readonly FieldChange[];
}

export interface PreviewDependencies {
  readonly validate: ValidatePush;
  readonly ledger: Pick<Ledger, 'load'>;
  readonly lookups: Pick<LogLookups, 'priorResults'>;
  readonly names: (usernames: readonly string[]) => Promise<Map<string, string>>;
  readonly concluded: ReadonlySet<string>;
  readonly clock: () => number;
}

/** Previews one push; the pushes of the same matter before it count as applied. */
export type PreviewPush = (push: LoggedPush) => Promise<Preview>;

/** @returns a function that remembers the matters that it was asked about */
export function createPreview(deps: PreviewDependencies): PreviewPush {
  const matters = new Map<string, Matter | undefined>();
  const settled = new Map<string, PriorResult>();

  const current = async (systemCode: string, externalId: string) => {
    const group = groupOf(systemCode, externalId);
    if (!matters.has(group)) {
      matters.set(group, (await deps.ledger.load([{ systemCode, externalId }]))[0]);
    }
    return matters.get(group);
  };

  const apply = async (push: LoggedPush, { operation, externalId }: ValidPush) => {
    const { systemCode, _id } = push.entry;
    const idempotencyFingerprint = resendFingerprint(push.entry);
    const keys =
      idempotencyFingerprint === undefined || settled.has(idempotencyFingerprint)
        ? []
        : [idempotencyFingerprint];
    const now = deps.clock();
    for (const [key, priorResult] of await deps.lookups.priorResults(keys, now - REPLAY_WINDOW)) {
      settled.set(key, priorResult);
    }
    const usernames = operation.op === 'upsert' ? (operation.parties ?? []) : [];
    const before = await current(systemCode, externalId);
    const { matter, results } = fold(
      before,
      [
        {
          id: String(_id),
          operation,
          ...(idempotencyFingerprint !== undefined && { idempotencyFingerprint }),
        },
      ],
      {
        systemCode,
        externalId,
        now,
        // Nothing is created here; the id of a new matter is not shown.
        newMatterId: before?.matterId ?? 0n,
        names: await deps.names(usernames.map(({ username }) => username)),
        concluded: deps.concluded,
      },
      settled,
    );
    matters.set(groupOf(systemCode, externalId), matter);
    const [folded] = results;
    if (!folded) throw new Error('a fold must give one result per push');
    const { decision, duplicateOf, changed } = folded;
    if (decision.kind === 'rejected') {
      return { accepted: false, result: decision.reason, changes: [] };
    }
    const { outcome, matter: after } = decision;
    if (idempotencyFingerprint !== undefined && !duplicateOf) {
      settled.set(idempotencyFingerprint, {
        pushId: String(_id),
        outcome,
        matterId: after.matterId,
      });
    }
    const changes = changed ? changesOf(folded.before, after) : [];
    return { accepted: true, result: duplicateOf ? `REPLAYED ${outcome}` : outcome, changes };
  };

  return async (push) => {
    const { _id, systemCode, operation } = push.entry;
    const about = { requestId: String(_id), systemCode, operation };
    try {
      const valid = await validateAgain(deps.validate, push);
      return { ...about, externalId: valid.externalId, ...(await apply(push, valid)) };
    } catch (error) {
      if (!(error instanceof PushError)) throw error;
      const { externalId = null } = push.entry;
      return { ...about, externalId, accepted: false, result: error.reason, changes: [] };
    }
  };
}
