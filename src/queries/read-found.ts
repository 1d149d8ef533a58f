/** A page of a search: the places that were found, and the matters that stand there, in that order. */
import type { Matter } from '../domain/matter';
import type { MatterView } from '../protocol/matter-view';
import type { ChangePosition } from '../storage/ledger/changed-matters';
import type { MatterReader } from '../storage/ledger/matter-reader';
import type { ChangesQuery, Found } from './changes-query';
import { toMatterView } from './presenters/matter';
import { weightOf } from './weight';

/** Matters that are read at once: they may be large. */
const READ_AT_ONCE = 50;

/** @param maxWeight about as many characters a page may have; it ends behind the matter that passes it */
export function createReadFound(
  reader: Pick<MatterReader, 'search' | 'byIds'>,
  timeZone: string,
  maxWeight: number,
) {
  return async (
    systemCode: string,
    query: ChangesQuery,
    after: ChangePosition | undefined,
  ): Promise<Found> => {
    const { updatedFrom: from, updatedTo: to, newestFirst = false, limit, ...rest } = query;
    const { cursor: _, ...filter } = rest;
    const options = { from, to, after, newestFirst, limit };
    const { places, next } = await reader.search(systemCode, filter, options);
    const matters: MatterView[] = [];
    let weight = 0;
    for (let at = 0; at < places.length; at += READ_AT_ONCE) {
      const part = places.slice(at, at + READ_AT_ONCE);
      const byId = await readAll(reader, systemCode, part);
      for (const place of part) {
        if (weight >= maxWeight) return { matters, next: lastOf(places, place) };
        const matter = byId.get(place.matterId);
        // Taken out by hand a moment ago.
        if (!matter) continue;
        weight += weightOf(matter);
        matters.push(toMatterView(matter, timeZone));
      }
    }
    return { matters, next };
  };
}

/** The place before another one. */
const lastOf = (places: readonly ChangePosition[], place: ChangePosition) =>
  places[places.indexOf(place) - 1];

async function readAll(
  reader: Pick<MatterReader, 'byIds'>,
  systemCode: string,
  places: readonly ChangePosition[],
): Promise<ReadonlyMap<bigint, Matter>> {
  const ids = places.map(({ matterId }) => matterId);
  const byId = new Map<bigint, Matter>();
  for await (const matter of reader.byIds(systemCode, ids)) byId.set(matter.matterId, matter);
  return byId;
}
