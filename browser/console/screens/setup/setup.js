/** The settings of this client, checks of its connection to the service, and a check of usernames. */

import { Fragment, h } from 'preact';
import { lengthText } from '../../kit/parts.js';
import { say, sayWith } from '../../kit/speech.js';
import { WORDS } from '../../kit/words.js';
import { timeText } from '../../read/answer-parts.js';
import { self } from '../../read/self.js';
import { Checks } from './check-list.js';
import { Secrets } from './secrets.js';
import { Users } from './users.js';
import { SETUP_WORDS } from './words.js';

/** @typedef {import('../../read/setup-shapes').OwnSelf} OwnSelf */
/** @typedef {import('../../kit/speech.js').Words} Words */

const KIB = 1_024;

export function Setup() {
  const me = /** @type {OwnSelf | undefined} */ (self.value);
  if (!me) return null;
  return h(
    'section',
    { class: 'setup' },
    h('h1', {}, say(WORDS.setup)),
    h(Checks, {}),
    h(
      'div',
      { class: 'beside' },
      h('div', {}, h(Client, { me }), h(Kept, { me })),
      h(Limits, { me }),
    ),
    h(Secrets, { me }),
    h(Users, { isFolded: false }),
  );
}

/** @param {number} bytes */
const sizeText = (bytes) =>
  bytes >= KIB * KIB
    ? `${Math.round((bytes / KIB / KIB) * 10) / 10} MiB`
    : `${Math.round(bytes / KIB)} KiB`;

/** @param {{ isFolded?: boolean, title: Words, names: Readonly<Record<string, Words>>, values: Readonly<Record<string, string>> }} props */
const Facts = ({ isFolded = false, title, names, values }) => {
  const heading = h('h2', {}, say(title));
  const facts = h(
    'dl',
    { class: 'facts' },
    Object.entries(names).map(([name, words]) =>
      h(Fragment, { key: name }, h('dt', {}, say(words)), h('dd', {}, h('bdi', {}, values[name]))),
    ),
  );
  return isFolded
    ? h('details', { class: 'card' }, h('summary', {}, heading), facts)
    : h('div', { class: 'card' }, heading, facts);
};

/** @param {OwnSelf['rate']} rate */
const rateText = (rate) =>
  rate ? sayWith(SETUP_WORDS.rate, rate.perSecond, rate.burst) : say(SETUP_WORDS.noRate);

/** @param {{ me: OwnSelf }} props */
function Client({ me }) {
  const { clientId, systemCode, signedWith, paused, rate, timeZone, version, serviceTime } = me;
  const scopes = signedWith.scopes.map((name) =>
    say(SETUP_WORDS.scopes[/** @type {'push'} */ (name)] ?? [name, name]),
  );
  const values = {
    clientId,
    systemCode,
    scopes: scopes.join(', '),
    keyEnds: signedWith.endsAt ? timeText(signedWith.endsAt) : say(SETUP_WORDS.noEnd),
    keyRate: rateText(signedWith.rate),
    paused: paused
      ? [sayWith(SETUP_WORDS.pausedSince, timeText(paused.since)), paused.reason]
          .filter(Boolean)
          .join(': ')
      : say(SETUP_WORDS.taken),
    rate: rateText(rate),
    timeZone,
    version,
    serviceTime: timeText(serviceTime),
  };
  return h(Facts, { title: SETUP_WORDS.client, names: SETUP_WORDS.facts, values });
}

/** @param {{ me: OwnSelf }} props */
function Kept({ me: { retentions } }) {
  const texts = Object.entries(retentions).map(([name, seconds]) => [
    name,
    seconds === 0 ? say(SETUP_WORDS.notKept) : lengthText(seconds * 1_000),
  ]);
  const values = Object.fromEntries(texts);
  return h(Facts, { title: SETUP_WORDS.kept, names: SETUP_WORDS.retentions, values });
}

/** @param {{ me: OwnSelf }} props */
function Limits({ me: { limits, concludedStatuses } }) {
  const { signatureGrace: grace } = limits;
  const values = {
    bodyBytes: sizeText(limits.bodyBytes),
    pushTimeout: lengthText(limits.pushTimeout),
    batchLines: String(limits.batchLines),
    batchBytes: sizeText(limits.batchBytes),
    batchTimeout: lengthText(limits.batchTimeout),
    timestampWindow: lengthText(limits.timestampWindow * 1_000),
    signatureGrace: grace === null ? say(SETUP_WORDS.unbounded) : lengthText(grace * 1_000),
    parties: String(limits.parties),
    concluded: concludedStatuses.join(', '),
  };
  const names = { ...SETUP_WORDS.limit, concluded: SETUP_WORDS.concluded };
  return h(Facts, { isFolded: true, title: SETUP_WORDS.limits, names, values });
}
