/** `matters/get`: the matters of given ids. */
import type { GotMatters } from '../protocol/comparison';
import { PushError, problem } from '../protocol/errors';
import type { MatterView } from '../protocol/matter-view';
import { TEXTS } from '../protocol/texts';
import type { MatterReader } from '../storage/ledger/matter-reader';
import { toMatterView } from './presenters/matter';
import { weightOf } from './weight';

/** Heaviest answer; with contents of the full length, 500 matters would be hundreds of megabytes. */
const MAX_WEIGHT = 32 * 1024 * 1024;

/** @throws (what is built) PushError VALIDATION_FAILED where the answer would be too heavy */
export function createGetMatters(reader: Pick<MatterReader, 'byKeys'>, timeZone: string) {
  return async (
    systemCode: string,
    { externalIds }: { readonly externalIds: readonly string[] },
  ): Promise<GotMatters> => {
    const asked = [...new Set(externalIds)];
    const found = new Map<string, MatterView>();
    let weight = 0;
    for await (const matter of reader.byKeys(systemCode, asked)) {
      weight += weightOf(matter);
      if (weight > MAX_WEIGHT) throw tooHeavy();
      found.set(matter.externalId, toMatterView(matter, timeZone));
    }
    return {
      matters: asked.flatMap((externalId) => found.get(externalId) ?? []),
      missing: asked.filter((externalId) => !found.has(externalId)),
    };
  };
}

function tooHeavy(): PushError {
  return new PushError('VALIDATION_FAILED', { errors: [problem('externalIds', TEXTS.tooHeavy)] });
}
