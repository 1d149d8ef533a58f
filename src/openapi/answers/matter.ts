/** A matter, and one that nobody at the caller's knows, as they are shown. */
import { z } from 'zod';
import type { MatterType, PartyRole, Phase } from '../../domain/matter';
import { count, instant, matterId, oneOf, type ShapeOf } from '../../protocol/answer-shape';
import type { MatterView, PartyView } from '../../protocol/matter-view';
import type { OrphanCount, OrphanView } from '../../queries/orphans';

const text = () => z.string().nullable();
const matterType = () => oneOf<MatterType>({ TODO: true, NOTICE: true, ALERT: true, REMIND: true });
const phase = () => oneOf<Phase>({ DRAFT: true, OPEN: true, CONCLUDED: true, DELETED: true });

export function matterSchemas() {
  const party = z.object({
    username: z.string(),
    partyRole: oneOf<PartyRole>({ ASSIGNEE: true, CC: true, RECIPIENT: true }),
    displayName: z.string(),
    unread: z.boolean(),
  } satisfies ShapeOf<PartyView>);
  const matter = z.object({
    systemCode: z.string(),
    externalId: z.string(),
    matterId: matterId(),
    matterType: matterType(),
    title: z.string(),
    summary: text(),
    content: text(),
    pcUrl: text(),
    mobileUrl: text(),
    bizType: text(),
    priority: text(),
    bizStatus: z.string(),
    phase: phase(),
    deadlineAt: text(),
    initiatorExtId: text(),
    initiatorUsername: text(),
    externalStatusCode: text(),
    externalStatusLabel: text(),
    sourceUpdatedAt: instant().nullable(),
    payloadJson: text(),
    parties: z.array(party),
    deleted: z.boolean(),
    deletedAt: instant().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
    revision: count(),
  } satisfies ShapeOf<MatterView>);
  const orphan = z.object({
    externalId: z.string(),
    matterId: matterId(),
    matterType: matterType(),
    title: z.string(),
    bizType: text(),
    bizStatus: z.string(),
    phase: phase(),
    sourceUpdatedAt: instant().nullable(),
    updatedAt: instant(),
  } satisfies ShapeOf<OrphanView>);
  const orphanCount = z.object({
    listed: count(),
    open: count(),
    orphans: count(),
  } satisfies ShapeOf<OrphanCount>);
  return { Matter: matter, MatterParty: party, Orphan: orphan, OrphanCount: orphanCount };
}
