/** Body and answer of `users/check`, which returns the state of each username. */
import { z } from 'zod';
import type { Answer } from './answer-shape';
import * as fields from './fields';
import { describe } from './language';
import { bounded } from './query-body';

const MAX_USERNAMES = 1_000;

export const usersCheckSchema = z
  .object({
    usernames: bounded(fields.username, MAX_USERNAMES).meta(
      describe('Login names to check', '推送中将要使用的登录名'),
    ),
  })
  .meta(describe('Login names', '登录名列表'));

export const checkedUser = z
  .object({
    username: z.string().meta(describe('The name in the request', '所查询的登录名')),
    state: z
      .enum(['ENABLED', 'DISABLED', 'UNKNOWN'])
      .meta(
        describe(
          'ENABLED: a push may contain the name. DISABLED, UNKNOWN: a push with this party is rejected with UNKNOWN_USER. A DRAFT with this initiator is rejected. Otherwise the initiator causes a warning',
          'ENABLED 可用于推送。DISABLED（已停用）与 UNKNOWN（不存在）：作为参与人时推送以 UNKNOWN_USER 被拒绝；作为发起人时仅有警告，DRAFT 则被拒绝',
        ),
      ),
  })
  .meta(describe('One name', '一个登录名'));
export type UserState = Answer<typeof checkedUser>['state'];

export const checkedUsers = z
  .object({
    allEnabled: z
      .boolean()
      .meta(describe('Whether all of the users are ENABLED', '是否全部可以在推送中使用')),
    users: z
      .array(checkedUser)
      .meta(
        describe('Each name once, in the order of the request', '按请求顺序返回，每个登录名一次'),
      ),
  })
  .meta(describe('The state of each name', '登录名的状态'));
export type CheckedUsers = Answer<typeof checkedUsers>;
