/** The query `matters/get` returns matters by external id. */

import { PushError, problem } from '../protocol/errors';
import type { GotMatters } from '../protocol/matter-answers';
import type { MatterView } from '../protocol/matter-view';
import { TEXTS } from '../protocol/texts';
import type { MatterReader } from '../storage/ledger';
import { toMatterView, weightOf } from './presenters/matter';

/** Maximum characters of all matters in an answer (`weightOf`). */
const MAX_WEIGHT = 32 * 1024 * 1024;

/** @returns a query that throws PushError VALIDATION_FAILED if the answer would exceed MAX_WEIGHT */
export function createGetMatters(reader: Pick<MatterReader, 'byKeys'>, timeZone: string) {
  return async (
    systemCode: string,
    { externalIds }: { readonly externalIds: readonly string[] },
  ): Promise<GotMatters & { readonly matters: readonly MatterView[] }> => {
    const ids = [...new Set(externalIds)];
    const found = new Map<string, MatterView>();
    let weight = 0;
    for await (const matter of reader.byKeys(systemCode, ids)) {
      weight += weightOf(matter);
      if (weight > MAX_WEIGHT) throw answerTooLarge();
      found.set(matter.externalId, toMatterView(matter, timeZone));
    }
    return {
      matters: ids.flatMap((externalId) => found.get(externalId) ?? []),
      missing: ids.filter((externalId) => !found.has(externalId)),
    };
  };
}

function answerTooLarge(): PushError {
  return new PushError('VALIDATION_FAILED', { errors: [problem('externalIds', TEXTS.tooHeavy)] });
}
