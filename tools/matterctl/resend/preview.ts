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

export interface DryRunDependencies {
  readonly validate: ValidatePush;
  readonly ledger: Pick<Ledger, 'load'>;
  readonly lookups: Pick<LogLookups, 'priorResults'>;
  readonly names: (usernames: readonly string[]) => Promise<Map<string, string>>;
  readonly concluded: ReadonlySet<string>;
  readonly clock: () => number;
}

/** Remembers the matters that it was asked about: the pushes of a matter before one count as applied. */
export class DryRun {
  readonly #deps: DryRunDependencies;
  readonly #matters = new Map<string, Matter | undefined>();
  /** By the fingerprint of their idempotency keys. */
  readonly #settled = new Map<string, PriorResult>();

  constructor(deps: DryRunDependencies) {
    this.#deps = deps;
  }

  async preview(push: LoggedPush): Promise<Preview> {
    const { _id, systemCode, operation } = push.entry;
    const about = { requestId: String(_id), systemCode, operation };
    try {
      const valid = await validateAgain(this.#deps.validate, push);
      return { ...about, externalId: valid.externalId, ...(await this.#apply(push, valid)) };
    } catch (error) {
      if (!(error instanceof PushError)) throw error;
      const { externalId = null } = push.entry;
      return { ...about, externalId, accepted: false, result: error.reason, changes: [] };
    }
  }

  async #apply({ entry }: LoggedPush, valid: ValidPush): Promise<Effect> {
    const fingerprint = resendFingerprint(entry);
    const { decision, duplicateOf, changed, before } = await this.#fold(entry, valid, fingerprint);
    if (decision.kind === 'rejected') {
      return { accepted: false, result: decision.reason, changes: [] };
    }
    const { outcome, matter: after } = decision;
    if (fingerprint !== undefined && !duplicateOf) {
      const { matterId } = after;
      this.#settled.set(fingerprint, { pushId: String(entry._id), outcome, matterId });
    }
    const changes = changed ? changesOf(before, after) : [];
    return { accepted: true, result: duplicateOf ? `REPLAYED ${outcome}` : outcome, changes };
  }

  /** Applies one push to what is remembered of its matter. */
  async #fold(
    { _id, systemCode }: LoggedPush['entry'],
    { operation, externalId }: ValidPush,
    idempotencyFingerprint: string | undefined,
  ) {
    const now = this.#deps.clock();
    await this.#learnPriorResult(idempotencyFingerprint, now - REPLAY_WINDOW);
    const before = await this.#current(systemCode, externalId);
    const usernames = operation.op === 'upsert' ? (operation.parties ?? []) : [];
    const names = await this.#deps.names(usernames.map(({ username }) => username));
    const { concluded } = this.#deps;
    // Nothing is created here; the id of a new matter is not shown.
    const newMatterId = before?.matterId ?? 0n;
    const context = { systemCode, externalId, now, newMatterId, names, concluded };
    const push = { id: String(_id), operation, idempotencyFingerprint };
    const { matter, results } = fold(before, [push], context, this.#settled);
    this.#matters.set(groupOf(systemCode, externalId), matter);
    const [result] = results;
    if (!result) throw new Error('a fold must give one result per push');
    return result;
  }

  async #learnPriorResult(fingerprint: string | undefined, since: number): Promise<void> {
    if (fingerprint === undefined || this.#settled.has(fingerprint)) return;
    const found = await this.#deps.lookups.priorResults([fingerprint], since);
    for (const [key, priorResult] of found) this.#settled.set(key, priorResult);
  }

  async #current(systemCode: string, externalId: string): Promise<Matter | undefined> {
    const group = groupOf(systemCode, externalId);
    if (!this.#matters.has(group)) {
      this.#matters.set(group, (await this.#deps.ledger.load([{ systemCode, externalId }]))[0]);
    }
    return this.#matters.get(group);
  }
}

type Effect = Pick<Preview, 'accepted' | 'result' | 'changes'>;
