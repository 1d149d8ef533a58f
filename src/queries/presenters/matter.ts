/** From a matter to what readers outside see of it. */

import type { Matter } from '../../domain/matter';
import type { MatterView } from '../../protocol/matter-view';
import { formatLocal } from '../../protocol/time';

/** @param timeZone IANA zone of the portal (PORTAL_TIME_ZONE) */
export function toMatterView(matter: Matter, timeZone: string): MatterView {
  const { deadlineAt, sourceUpdatedAt } = matter;
  return {
    systemCode: matter.systemCode,
    externalId: matter.externalId,
    matterId: matter.matterId.toString(),
    matterType: matter.matterType,
    title: matter.title,
    summary: matter.summary,
    content: matter.content,
    pcUrl: matter.pcUrl,
    mobileUrl: matter.mobileUrl,
    bizType: matter.bizType,
    priority: matter.priority,
    bizStatus: matter.bizStatus,
    phase: matter.phase,
    deadlineAt: deadlineAt === null ? null : formatLocal(deadlineAt, timeZone),
    initiatorExtId: matter.initiatorExtId,
    initiatorUsername: matter.initiatorUsername,
    externalStatusCode: matter.externalStatusCode,
    externalStatusLabel: matter.externalStatusLabel,
    sourceUpdatedAt: sourceUpdatedAt === null ? null : toIso(sourceUpdatedAt),
    payloadJson: matter.payloadJson,
    parties: matter.parties.map(({ username, partyRole, displayName, unread }) => ({
      username,
      partyRole,
      displayName,
      unread,
    })),
    deleted: matter.deleted,
    deletedAt: matter.deletedAt === null ? null : toIso(matter.deletedAt),
    createdAt: toIso(matter.createdAt),
    updatedAt: toIso(matter.updatedAt),
    revision: matter.revision,
  };
}

const toIso = (instant: number) => new Date(instant).toISOString();
