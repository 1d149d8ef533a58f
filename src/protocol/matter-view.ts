/** A matter as readers outside see it: the specification's field names (2.1, 2.2), JSON-safe. */
import { z } from 'zod';
import type { MatterType, PartyRole, Phase } from '../domain/matter';
import { type Answer, count, instant, matterId, oneOf } from './answer-shape';
import { about } from './bilingual';
import { MATTER } from './matter-texts';

const text = () => z.string().nullable();

const FORMS = {
  matterType: oneOf<MatterType>({ TODO: true, NOTICE: true, ALERT: true, REMIND: true }),
  phase: oneOf<Phase>({ DRAFT: true, OPEN: true, CONCLUDED: true, DELETED: true }),
};

export const partyView = z
  .object({
    username: z.string().meta(MATTER.username),
    partyRole: oneOf<PartyRole>({ ASSIGNEE: true, CC: true, RECIPIENT: true }).meta(
      MATTER.partyRole,
    ),
    displayName: z.string().meta(about('Name in the portal', '门户中的显示名')),
    unread: z.boolean().meta(about('Whether the party has still to read it', '该参与人是否未读')),
  })
  .meta(about('A party of a matter', '事项的参与人'));
export type PartyView = Answer<typeof partyView>;

/** Absent values are null; instants are ISO-8601 UTC unless said otherwise. */
export const matterView = z
  .object({
    systemCode: z.string().meta(MATTER.systemCode),
    externalId: z.string().meta(MATTER.externalId),
    matterId: matterId().meta(MATTER.matterId),
    matterType: FORMS.matterType.meta(MATTER.matterType),
    title: z.string().meta(MATTER.title),
    summary: text().meta(MATTER.summary),
    content: text().meta(MATTER.content),
    pcUrl: text().meta(MATTER.pcUrl),
    mobileUrl: text().meta(MATTER.mobileUrl),
    bizType: text().meta(MATTER.bizType),
    priority: text().meta(MATTER.priority),
    bizStatus: z.string().meta(MATTER.bizStatus),
    phase: FORMS.phase.meta(MATTER.phase),
    deadlineAt: text().meta(
      about(
        'Deadline: ISO-8601 date-time, local in the time zone of the portal',
        '截止时间：ISO-8601，门户时区的本地时间',
      ),
    ),
    initiatorExtId: text().meta(MATTER.initiatorExtId),
    initiatorUsername: text().meta(MATTER.initiatorUsername),
    externalStatusCode: text().meta(MATTER.externalStatusCode),
    externalStatusLabel: text().meta(MATTER.externalStatusLabel),
    sourceUpdatedAt: instant().nullable().meta(MATTER.shownTime),
    payloadJson: text().meta(MATTER.payloadJson),
    parties: z.array(partyView).meta(about('Its parties', '参与人')),
    deleted: z.boolean().meta(MATTER.deleted),
    deletedAt: instant().nullable().meta(MATTER.shownTime),
    createdAt: instant().meta(MATTER.shownTime),
    updatedAt: instant().meta(MATTER.updatedAt),
    revision: count().meta(about('How many pushes have changed it', '已被多少次推送改变')),
  })
  .meta(about('A matter of the ledger; what is absent is null', '台账中的事项；缺失的字段为 null'));
export type MatterView = Answer<typeof matterView>;

/** A line of `matters/orphans`. */
export const orphanView = matterView
  .pick({
    externalId: true,
    matterId: true,
    matterType: true,
    title: true,
    bizType: true,
    bizStatus: true,
  })
  .extend(matterView.pick({ phase: true, sourceUpdatedAt: true, updatedAt: true }).shape)
  .meta(
    about('A matter that is open here and not in the list', '台账中未办结、但不在列表里的事项'),
  );
export type OrphanView = Answer<typeof orphanView>;

/** The last line. */
export const orphanCount = z
  .object({
    listed: count().meta(about('Different ids in the list', '列表中不同的业务主键数')),
    open: count().meta(
      about('Matters that are open or a draft here', '台账中未办结或草稿的事项数'),
    ),
    orphans: count().meta(about('Those of them that are not in the list', '其中不在列表里的数量')),
  })
  .meta(about('How many there were', '数量统计'));
export type OrphanCount = Answer<typeof orphanCount>;
