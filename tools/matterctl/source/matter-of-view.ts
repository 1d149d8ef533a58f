/** Back from what readers outside see of a matter to the matter, as far as it can be compared. */

import { type Matter, priorityRank } from '../../../src/domain/matter';
import type { MatterView } from '../../../src/protocol/matter-view';
import { parseDateTime } from '../../../src/protocol/time';

/**
 * @param timeZone in which `deadlineAt` is written: the zone of the portal
 * @returns the matter; its rank is derived anew and its past handlers, which nobody compares, are not told
 */
export function toMatter(view: MatterView, timeZone: string): Matter {
  const { deadlineAt, sourceUpdatedAt, deletedAt } = view;
  return {
    ...view,
    matterId: BigInt(view.matterId),
    priorityRank: priorityRank(view.priority),
    deadlineAt: deadlineAt === null ? null : (parseDateTime(deadlineAt, timeZone) ?? null),
    sourceUpdatedAt: sourceUpdatedAt === null ? null : Date.parse(sourceUpdatedAt),
    pastHandlers: [],
    createdAt: Date.parse(view.createdAt),
    updatedAt: Date.parse(view.updatedAt),
    deletedAt: deletedAt === null ? null : Date.parse(deletedAt),
  };
}
