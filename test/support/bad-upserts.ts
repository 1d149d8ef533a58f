/** Upserts that validation rejects, each for one thing. */

/** One that passes. */
export const KEPT = {
  matterType: 'TODO',
  externalId: 'KEPT',
  title: 'as it was',
  parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
};

const nested = (levels: number) => JSON.parse(`${'[1,'.repeat(levels)}1${']'.repeat(levels)}`);
const tomorrow = Date.now() + 25 * 3_600_000;

/**
 * What validation finds wrong in an upsert of a matter that is there, and the field that the error
 * must name.
 */
export const WRONG: readonly [string, object, string][] = [
  ['no matterType', { matterType: undefined }, 'matterType'],
  ['an unknown matterType', { matterType: 'TASK' }, 'matterType'],
  ['no title', { title: undefined }, 'title'],
  ['a title that is cleared', { title: null }, 'title'],
  ['a title of 513', { title: 'x'.repeat(513) }, 'title'],
  ['a TODO without externalId', { externalId: undefined }, 'externalId'],
  ['an externalId of 129', { externalId: 'x'.repeat(129) }, 'externalId'],
  ['a line feed in the externalId', { externalId: 'KE\nPT' }, 'externalId'],
  ['a summary of 2,001', { summary: 'x'.repeat(2001) }, 'summary'],
  ['a content of 65,537', { content: 'x'.repeat(65_537) }, 'content'],
  ['a javascript: URL', { pcUrl: 'javascript:alert(1)' }, 'pcUrl'],
  ['a data: URL', { mobileUrl: 'DATA:text/html,x' }, 'mobileUrl'],
  ['a URL of 2,049', { pcUrl: `https://x/${'x'.repeat(2039)}` }, 'pcUrl'],
  ['a bizType of 65', { bizType: 'x'.repeat(65) }, 'bizType'],
  ['a priority of 33', { priority: 'x'.repeat(33) }, 'priority'],
  ['a bizStatus in lower case', { bizStatus: 'done' }, 'bizStatus'],
  ['a bizStatus of 65', { bizStatus: 'X'.repeat(65) }, 'bizStatus'],
  ['a deadline that is no date', { deadlineAt: 'soon' }, 'deadlineAt'],
  ['a sourceUpdatedAt that is no time', { sourceUpdatedAt: 'yesterday' }, 'sourceUpdatedAt'],
  ['a sourceUpdatedAt of tomorrow', { sourceUpdatedAt: tomorrow }, 'sourceUpdatedAt'],
  ['a payloadJson that is no JSON', { payloadJson: '{' }, 'payloadJson'],
  ['a payloadJson of 65,537', { payloadJson: `"${'x'.repeat(65_535)}"` }, 'payloadJson'],
  ['replaceParties without parties', { replaceParties: true, parties: undefined }, 'parties'],
  ['replaceParties as text', { replaceParties: 'true' }, 'replaceParties'],
  ['a party without role', { parties: [{ username: 'alice' }] }, 'parties[0].partyRole'],
  [
    'an unknown role',
    { parties: [{ username: 'alice', partyRole: 'BOSS' }] },
    'parties[0].partyRole',
  ],
  [
    'a username of 65',
    { parties: [{ username: 'x'.repeat(65), partyRole: 'CC' }] },
    'parties[0].username',
  ],
  [
    'an unknown user',
    { parties: [{ username: 'nobody', partyRole: 'CC' }] },
    'parties[0].username',
  ],
  [
    '501 parties',
    { parties: Array.from({ length: 501 }, (_, n) => ({ username: `u${n}`, partyRole: 'CC' })) },
    'parties',
  ],
  [
    'an unknown initiator of a draft',
    { bizStatus: 'DRAFT', initiatorUsername: 'nobody' },
    'initiatorUsername',
  ],
  ['33 levels', { extra: nested(32) }, '(body)'],
];
