/** The page: how the deployment is now, its last hour, and its clients. */

import { Fragment, h } from 'preact';
import { useEffect } from 'preact/hooks';
import { Guard } from '../console/kit/guard.js';
import { Languages } from '../console/kit/languages.js';
import { isEnglish, say, sayWith } from '../console/kit/speech.js';
import { Alerts, Stuck } from './alerts.js';
import { Clients } from './clients.js';
import { History } from './history.js';
import { failure, status } from './look.js';
import { clockText } from './parts.js';
import { Flow, Partitions, Processes, Resendable, Servers } from './tables.js';
import { WORDS } from './words.js';

export function App() {
  useEffect(() => {
    document.documentElement.lang = isEnglish() ? 'en' : 'zh-CN';
    document.title = say(WORDS.title);
  });
  const seen = status.value;
  return h(
    Fragment,
    {},
    h(
      'header',
      {},
      h('p', { class: 'name' }, say(WORDS.title)),
      h('p', { class: 'tools' }, h(Languages, {})),
      h(Links, {}),
    ),
    h(
      'main',
      { id: 'content' },
      h('h1', {}, say(WORDS.heading)),
      h(Light, {}),
      seen &&
        h(
          Guard,
          { words: WORDS.broken, again: WORDS.tryAgain },
          h(Alerts, { alerts: seen.alerts }),
          h(
            'div',
            { class: 'pair' },
            h(Servers, { servers: seen.servers }),
            h(Flow, { flow: seen.flow }),
          ),
          h(History, { history: seen.history }),
          h(Processes, { status: seen }),
          h(Clients, { status: seen }),
          h(Partitions, { partitions: seen.partitions }),
          h(
            'div',
            { class: 'pair' },
            h(Stuck, { stuck: seen.stuck }),
            h(Resendable, { found: seen.resendable }),
          ),
        ),
    ),
  );
}

function Links() {
  return h(
    'nav',
    { 'aria-label': say(WORDS.heading) },
    h('a', { href: 'metrics' }, say(WORDS.metrics)),
  );
}

/** When it was seen, or that it cannot be seen now. */
function Light() {
  const seen = status.value;
  const time = seen && clockText(seen.at);
  if (failure.value !== undefined) {
    return h(
      'div',
      { class: 'failure', role: 'alert' },
      h('p', {}, time ? sayWith(WORDS.notNow, time) : say(WORDS.neverYet)),
      h('p', { class: 'quiet' }, failure.value),
    );
  }
  return h(
    'p',
    { class: 'quiet reported' },
    time ? sayWith(WORDS.reported, seen.process, time, seen.timeZone) : say(WORDS.loading),
  );
}
