/** One matter: a card as the portal shows it, its parties with what they have read, and its history. */
import { prettyOf } from './bodies.js';
import { Fragment, h } from './lib/preact.js';
import { useAsk } from './load.js';
import { History } from './matter-history.js';
import { phaseText } from './matters.js';
import { MATTER_WORDS } from './matters-words.js';
import { Failure, Nothing, timeText, Verbatim, Waiting } from './parts.js';
import { hrefOf, route } from './route.js';
import { say, sayName, sayWith } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {import('./matter-shapes').Matter} Matter */
/** @typedef {import('./speech.js').Words} Words */

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
    // Pushes that were rejected stand in the log of a matter that never came to be, too.
    data && h(History, { externalId }),
    matter && h(Facts, { matter }),
  );
}

/** @param {{ matter: Matter }} props */
function Card({ matter }) {
  const { title, summary, matterType, priority, bizType, deadlineAt, deletedAt } = matter;
  return h(
    'article',
    { class: 'card', 'aria-label': say(MATTER_WORDS.card) },
    h(
      'p',
      { class: 'badges' },
      h('span', { class: 'badge' }, sayName(MATTER_WORDS.kinds, matterType)),
      h(
        'span',
        { class: `badge phase ${matter.phase.toLowerCase()}` },
        h('bdi', {}, phaseText(matter)),
      ),
      priority && h('span', { class: 'badge' }, h('bdi', {}, priority)),
      bizType && h('span', { class: 'badge' }, h('bdi', {}, bizType)),
    ),
    h('h2', { dir: 'auto' }, title),
    summary && h('p', { class: 'summary', dir: 'auto' }, summary),
    deletedAt && h('p', { class: 'bad' }, sayWith(MATTER_WORDS.deletedAt, timeText(deletedAt))),
    h(
      'dl',
      { class: 'facts' },
      fact(MATTER_WORDS.from, matter.initiatorUsername ?? matter.initiatorExtId),
      fact(MATTER_WORDS.deadline, deadlineAt?.replace('T', ' ')),
      fact(MATTER_WORDS.openPc, matter.pcUrl && h(Target, { url: matter.pcUrl })),
      fact(MATTER_WORDS.openMobile, matter.mobileUrl && h(Target, { url: matter.mobileUrl })),
    ),
    matter.content && h(Folded, { words: MATTER_WORDS.content, text: matter.content }),
    matter.payloadJson &&
      h(Folded, { words: MATTER_WORDS.payload, text: prettyOf(matter.payloadJson) }),
  );
}

/** @param {Words} words @param {any} value nothing is shown of nothing */
const fact = (words, value) =>
  value === null || value === undefined || value === ''
    ? null
    : h(Fragment, { key: words[0] }, h('dt', {}, say(words)), h('dd', {}, h('bdi', {}, value)));

/** Only what a browser opens as a page becomes a link. @param {{ url: string }} props */
const Target = ({ url }) =>
  /^https?:\/\//i.test(url)
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
                h('td', {}, sayName(MATTER_WORDS.roles, partyRole)),
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
