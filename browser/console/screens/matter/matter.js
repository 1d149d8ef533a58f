/** One matter: its card, its people with their read states, and its history. */

import { Fragment, h } from 'preact';
import { localAt } from '../../../../src/protocol/time';
import { KINDS, PRIORITIES, ROLES } from '../../kit/matter-words.js';
import { Nothing, Verbatim, Waiting } from '../../kit/parts.js';
import { hrefOf, route } from '../../kit/route.js';
import { say, sayName, sayWith } from '../../kit/speech.js';
import { WORDS } from '../../kit/words.js';
import { Failure, timeText } from '../../read/answer-parts.js';
import { prettyOf } from '../../read/bodies.js';
import { useAsk } from '../../read/load.js';
import { now, self } from '../../read/self.js';
import { Status } from '../matters/status.js';
import { MATTER_WORDS } from '../matters/words.js';
import { History } from './history.js';

/** @typedef {import('../../read/matter-shapes').Matter} Matter */
/** @typedef {import('../../kit/speech.js').Words} Words */

export function Matter() {
  const { externalId = '' } = route.value.params;
  const question = externalId === '' ? undefined : { externalIds: [externalId] };
  const { data, error, isLoading, again } = useAsk('matters/get', question);
  const matter = /** @type {Matter | undefined} */ (data?.matters[0]);
  return h(
    'section',
    { class: 'matter', key: externalId },
    h('p', {}, h('a', { href: hrefOf('matters') }, say(MATTER_WORDS.back))),
    h('h1', {}, `${say(WORDS.matter)} `, h('bdi', { class: 'quiet' }, externalId)),
    error ? h(Failure, { error, again }) : null,
    isLoading && !data && h(Waiting, {}),
    (data || question === undefined) && !matter && h(Nothing, { text: say(MATTER_WORDS.noMatter) }),
    matter && h(Card, { matter }),
    matter && h(Parties, { matter }),
    // A matter that was never created can have a history too: its rejected pushes.
    data && h(History, { externalId }),
    matter && h(Facts, { matter }),
  );
}

/** @param {{ matter: Matter }} props */
function Card({ matter }) {
  const { title, summary, matterType, priority, bizType, deletedAt } = matter;
  return h(
    'article',
    { class: 'card', 'aria-label': say(MATTER_WORDS.card) },
    h(
      'p',
      { class: 'badges' },
      h('span', { class: 'badge' }, sayName(KINDS, matterType)),
      h(Status, { matter }),
      priority && h('span', { class: 'badge' }, h('bdi', {}, sayName(PRIORITIES, priority))),
      bizType && h('span', { class: 'badge' }, h('bdi', {}, bizType)),
    ),
    title === undefined
      ? h('p', { class: 'note' }, say(WORDS.hiddenBodies))
      : h('h2', { dir: 'auto' }, title),
    h(NextStep, { matter }),
    summary && h('p', { class: 'summary', dir: 'auto' }, summary),
    deletedAt && h('p', { class: 'bad' }, sayWith(MATTER_WORDS.deletedAt, timeText(deletedAt))),
    h(
      'dl',
      { class: 'facts' },
      fact(MATTER_WORDS.from, matter.initiatorUsername ?? matter.initiatorExtId),
      fact(MATTER_WORDS.openPc, matter.pcUrl && h(Target, { url: matter.pcUrl })),
      fact(MATTER_WORDS.openMobile, matter.mobileUrl && h(Target, { url: matter.mobileUrl })),
    ),
    matter.content && h(Folded, { words: MATTER_WORDS.content, text: matter.content }),
    matter.payloadJson &&
      h(Folded, { words: MATTER_WORDS.payload, text: prettyOf(matter.payloadJson) }),
  );
}

const PAGE_URL = /^https?:\/\//i;

/** The deadline, and the page on which the matter is handled. @param {{ matter: Matter }} props */
function NextStep({ matter: { phase, deadlineAt, pcUrl } }) {
  const isPage = pcUrl !== null && PAGE_URL.test(pcUrl);
  if (!deadlineAt && !isPage) return null;
  const zone = self.value?.timeZone ?? 'UTC';
  // The deadline is a local time of the portal, as is this text of the current time.
  const localNow = new Date(localAt(now.value, zone)).toISOString().slice(0, 19);
  const isOverdue = phase === 'OPEN' && deadlineAt !== null && deadlineAt < localNow;
  return h(
    'p',
    { class: 'buttons' },
    deadlineAt &&
      h(
        'strong',
        { class: isOverdue ? 'bad' : '' },
        sayWith(MATTER_WORDS.deadline, deadlineAt.replace('T', ' ').slice(0, 16)),
        isOverdue && ` (${say(MATTER_WORDS.overdue)})`,
      ),
    isPage &&
      h(
        'a',
        { class: 'button', href: pcUrl, target: '_blank', rel: 'noopener noreferrer' },
        say(MATTER_WORDS.openSource),
      ),
  );
}

/** @param {Words} words @param {any} value nothing is shown of nothing */
const fact = (words, value) =>
  value === null || value === undefined || value === ''
    ? null
    : h(Fragment, { key: words[0] }, h('dt', {}, say(words)), h('dd', {}, h('bdi', {}, value)));

/** Only an address of a web page becomes a link. @param {{ url: string }} props */
const Target = ({ url }) =>
  PAGE_URL.test(url)
    ? h('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, url)
    : h('code', {}, url);

/** @param {{ words: Words, text: string }} props */
const Folded = ({ words, text }) =>
  h('details', {}, h('summary', {}, say(words)), h(Verbatim, { text, label: say(words) }));

/** @param {{ matter: Matter }} props */
function Parties({ matter: { parties } }) {
  const heads = [MATTER_WORDS.user, MATTER_WORDS.role, MATTER_WORDS.readState];
  return h(
    'div',
    { class: 'card' },
    h('h2', {}, say(MATTER_WORDS.parties)),
    parties.length === 0
      ? h('p', {}, say(MATTER_WORDS.noParties))
      : h(
          'table',
          { class: 'plain' },
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              heads.map((words) => h('th', { key: words[0], scope: 'col' }, say(words))),
            ),
          ),
          h(
            'tbody',
            {},
            parties.map(({ username, displayName, partyRole, unread }) =>
              h(
                'tr',
                { key: `${partyRole} ${username}` },
                h('td', {}, h('bdi', {}, displayName), ' ', h('bdi', { class: 'quiet' }, username)),
                h('td', {}, sayName(ROLES, partyRole)),
                h(
                  'td',
                  { class: unread ? 'even' : 'good' },
                  say(unread ? MATTER_WORDS.unread : MATTER_WORDS.read),
                ),
              ),
            ),
          ),
        ),
  );
}

/** @param {{ matter: Matter }} props */
function Facts({ matter }) {
  const times = ['sourceUpdatedAt', 'createdAt', 'updatedAt'];
  return h(
    'dl',
    { class: 'card facts' },
    Object.entries(MATTER_WORDS.facts).map(([name, words]) => {
      const value = matter[/** @type {'externalId'} */ (name)];
      return fact(words, times.includes(name) && value ? timeText(value, true) : value);
    }),
  );
}
