/** The fields of a body that change the parties of a matter (contract 4.7). */
import { z } from 'zod';
import { type PartyRef, type PartyRemoval, partyKey } from '../domain/matter';
import { MAX_PARTIES } from '../domain/parties';
import * as fields from './fields';
import { describe } from './language';
import { MATTER } from './matter-view';
import { absentMeans } from './schema-rules';
import { TEXTS, zodMessage } from './texts';

const partyRole = z.enum(['ASSIGNEE', 'CC', 'RECIPIENT']);

export const partyBodySchema = z
  .object({
    username: fields.username.meta(MATTER.username),
    partyRole: partyRole.meta(MATTER.partyRole),
  })
  .meta(describe('A pushed party of a matter', '推送的参与人'));

/** The user may be unknown: a push can remove a user who has left the portal. */
export const partyRemovalBodySchema = z
  .object({
    username: fields.username.meta(
      describe('Login name; it may be unknown to the portal', '登录名，可以是门户中不存在的用户'),
    ),
    partyRole: fields
      .nullIsAbsent(partyRole)
      .meta(
        describe(
          'The role to remove; by default, all roles',
          '要移除的角色；未传则移除该用户的所有角色',
        ),
      ),
  })
  .meta(describe('Parties to remove from a matter', '要移除的参与人'));

/** Checks the length first: a list that is too long causes only one error. */
const listOf = <T extends z.ZodType>(element: T) => {
  const unchecked = z.unknown() as z.ZodType<unknown, z.input<T>>;
  return fields.nullIsAbsent(z.array(unchecked).max(MAX_PARTIES).pipe(z.array(element)));
};

export const PARTY_FIELDS = {
  replaceParties: fields.nullIsAbsent(z.boolean()).meta({
    ...absentMeans(false),
    ...describe(
      'True: `parties` replaces the list of parties. Parties that remain keep their read state.',
      '为 true 时参与人列表整体替换为 parties；保留下来的人保持已读状态。',
    ),
  }),
  parties: listOf(partyBodySchema).meta(
    describe(
      'Parties to merge with the existing parties by username and role, unless `replaceParties` is true. New parties are unread',
      '参与人：按登录名和角色与已有参与人合并，replaceParties 为 true 时整体替换；新参与人为未读',
    ),
  ),
  removeParties: listOf(partyRemovalBodySchema).meta(
    describe(
      'Parties to remove after `parties` is applied. Parties that are not in the matter are ignored',
      '要移除的参与人，在 parties 生效之后移除；事项中没有的参与人忽略',
    ),
  ),
};

interface PartyChange {
  readonly replaceParties?: boolean | undefined;
  readonly parties?: readonly PartyRef[] | undefined;
  readonly removeParties?: readonly PartyRemoval[] | undefined;
}

/** Adds issues for removals that contradict `replaceParties` or `parties`. */
export function checkRemovals(
  { replaceParties, parties, removeParties: removals }: PartyChange,
  { addIssue }: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (!removals || removals.length === 0) return;
  if (replaceParties) {
    const message = zodMessage(TEXTS.notToReplace);
    addIssue({ code: 'custom', path: ['removeParties'], message });
    return;
  }
  if (!parties) return;
  const users = new Set(parties.map(({ username }) => username));
  const keys = new Set(parties.map(partyKey));
  for (const [index, { username, partyRole: role }] of removals.entries()) {
    const isSent = role ? keys.has(partyKey({ username, partyRole: role })) : users.has(username);
    if (!isSent) continue;
    const message = zodMessage(TEXTS.partyInBoth);
    addIssue({ code: 'custom', path: ['removeParties', index], message });
  }
}

/** The `replaceParties` rule of `checkRemovals` as JSON Schema. */
export const NO_REMOVAL_IF_REPLACED = {
  not: {
    properties: {
      replaceParties: { const: true },
      removeParties: { type: 'array', minItems: 1 },
    },
    required: ['replaceParties', 'removeParties'],
  },
};
