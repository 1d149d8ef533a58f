/** Rows of the endpoint table (`protocol/endpoints.ts`) for the queries `users/check` and `clients/me`. */
import { CHECKED_USERS, CLIENT_SELF, USERS_CHECK } from '../examples/self';
import { LARGE_QUERY_LIMIT } from '../id-lines';
import {
  type ClientSelf,
  clientRate,
  clientSelf,
  clientSelfSchema,
  retentions,
  secretView,
  serviceLimits,
} from '../self';
import { type CheckedUsers, checkedUser, checkedUsers, usersCheckSchema } from '../users-check';
import { signedQuery } from './endpoint';

export const SELF_QUERIES = {
  'users/check': signedQuery<CheckedUsers>({
    id: 'checkUsers',
    title: ['Check usernames', '校验登录名'],
    description: [
      'Checks whether each of at most 1,000 names belongs to an enabled portal user. A push makes the same check.',
      '校验最多 1,000 个登录名是否存在且已启用，与推送时的判断一致。',
    ],
    body: { name: 'UsersCheckBody', schema: () => usersCheckSchema, example: USERS_CHECK },
    answer: {
      name: 'UsersAnswer',
      description: ['The state of each name', '登录名的状态'],
      data: 'CheckedUsers',
      example: CHECKED_USERS,
    },
    schemas: () => ({ CheckedUser: checkedUser, CheckedUsers: checkedUsers }),
    bodyLimit: LARGE_QUERY_LIMIT,
  }),
  'clients/me': signedQuery<ClientSelf>({
    id: 'describeClient',
    title: ['Settings of the calling client', '查询自身的配置'],
    description: [
      'Rate limit, pause with reason, secret ids, retentions, limits, and the service time.',
      '速率限制、暂停及其原因、密钥编号、保存时长、限制以及服务时间。',
    ],
    body: { name: 'ClientSelfBody', schema: () => clientSelfSchema, example: {} },
    answer: {
      name: 'SelfAnswer',
      description: ['Settings of the calling client', '当前 client 的信息'],
      data: 'ClientSelf',
      example: CLIENT_SELF,
    },
    schemas: () => ({
      ClientRate: clientRate,
      SecretView: secretView,
      Retentions: retentions,
      ServiceLimits: serviceLimits,
      ClientSelf: clientSelf,
    }),
  }),
} as const;
