/** The dry run of a resend: computes with `fold` what the resent pushes would change in the ledger now. */
import { changesOf, type FieldChange } from '../../../src/domain/changes';
import { fold, type PriorResult } from '../../../src/domain/fold';
import { groupOf, type Matter } from '../../../src/domain/matter';
import { PushError } from '../../../src/protocol/errors';
import { resendFingerprint, toPriorResults } from '../../../src/pushes/idempotency';
import type { CheckBodies, ValidPush } from '../../../src/pushes/pushes';
import { checkStored, type StoredPush } from '../../../src/pushes/resend';
import type { Ledger } from '../../../src/storage/ledger';
import { type LogLookups, REPLAY_WINDOW } from '../../../src/storage/push-log';

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
  readonly checkBodies: CheckBodies;
  readonly ledger: Pick<Ledger, 'load'>;
  readonly lookups: Pick<LogLookups, 'priorEntries'>;
  readonly names: (usernames: readonly string[]) => Promise<Map<string, string>>;
  readonly concluded: ReadonlySet<string>;
  readonly clock: () => number;
}

/** Remembers the matters of earlier previews: for a push, the earlier pushes of its matter count as applied. */
export class DryRun {
  readonly #deps: DryRunDependencies;
  readonly #matters = new Map<string, Matter | undefined>();
  /** Results of earlier pushes and previews, by idempotency fingerprint. */
  readonly #settled = new Map<string, PriorResult>();

  constructor(deps: DryRunDependencies) {
    this.#deps = deps;
  }

  async preview(push: StoredPush): Promise<Preview> {
    const { _id, systemCode, operation } = push.entry;
    const common = { requestId: String(_id), systemCode, operation };
    const [valid] = await checkStored(this.#deps.checkBodies, [push]);
    if (valid && !(valid instanceof PushError)) {
      return { ...common, externalId: valid.externalId, ...(await this.#apply(push, valid)) };
    }
    const { externalId = null } = push.entry;
    const result = valid?.reason ?? 'INTERNAL_ERROR';
    return { ...common, externalId, accepted: false, result, changes: [] };
  }

  async #apply({ entry }: StoredPush, valid: ValidPush): Promise<Effect> {
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

  /** Applies one push to the remembered state of its matter. */
  async #fold(
    { _id, systemCode }: StoredPush['entry'],
    { operation, externalId }: ValidPush,
    idempotencyFingerprint: string | undefined,
  ) {
    const now = this.#deps.clock();
    await this.#learnPriorResult(idempotencyFingerprint, now - REPLAY_WINDOW);
    const before = await this.#current(systemCode, externalId);
    const usernames = operation.op === 'upsert' ? (operation.parties ?? []) : [];
    const names = await this.#deps.names(usernames.map(({ username }) => username));
    const { concluded } = this.#deps;
    // A new matter gets no real id, because the preview creates no matter and does not show ids.
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
    const found = await this.#deps.lookups.priorEntries([fingerprint], since);
    for (const [key, priorResult] of toPriorResults(found)) this.#settled.set(key, priorResult);
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
