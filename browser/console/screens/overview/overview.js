/** The overview of a system: received and saved pushes, unresolved failures and their reasons. It refreshes itself. */

import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Nothing, numberText, Waiting } from '../../kit/parts.js';
import { hrefOf, route } from '../../kit/route.js';
import { say, sayWith } from '../../kit/speech.js';
import { Failure } from '../../read/answer-parts.js';
import { Heading } from '../../read/heading.js';
import { isByAnybody, reasonWords } from '../../read/reasons.js';
import { self } from '../../read/self.js';
import { Chart } from './chart.js';
import { askOverview } from './data.js';
import { Ledger } from './ledger.js';
import { changeText, reasonsOf, windowsOf } from './sums.js';
import { OVERVIEW } from './words.js';

/** @typedef {import('./data.js').Counted} Counted */
/** @typedef {Awaited<ReturnType<typeof askOverview>> & { days: number }} Data */
/** @typedef {keyof Data['now']} Tile */

/** Milliseconds between the end of one refresh and the next one. */
const INTERVAL = 30_000;
const TOP = 8;

export function Overview() {
  const { data, error, again } = useOverview();
  return h(
    'section',
    { class: 'overview' },
    h(Heading, {}, say(OVERVIEW.heading)),
    error ? h(Failure, { error, again }) : null,
    !data && !error && h(Waiting, {}),
    data && h(Tiles, { data }),
    data &&
      (data.stats.total.pushes === 0
        ? h(Nothing, { text: say(OVERVIEW.noPushes) })
        : h(Chart, { stats: data.stats })),
    data && h(Reasons, { data }),
    h(Ledger, {}),
  );
}

/** Refreshes at an interval and when the range changes; the shown data stay until the new ones arrive. */
function useOverview() {
  const { range, from, to, lang } = route.value.params;
  const zone = self.value?.timeZone;
  const question = JSON.stringify([range, from, to, lang, zone]);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState(
    /** @type {{ question?: string, data?: Data, error?: unknown }} */ ({}),
  );
  useEffect(() => {
    const me = /** @type {import('../../read/setup-shapes').OwnSelf | undefined} */ (self.peek());
    if (!me) return undefined;
    const stop = new AbortController();
    const { signal } = stop;
    const windows = windowsOf(route.value.params, me.timeZone, Date.now());
    void askOverview(windows, me, signal)
      .then(
        (data) => setState({ question, data: { ...data, days: windows.days } }),
        (error) => {
          if (signal.aborted) return;
          setState((before) => ({ ...(before.question === question && before), question, error }));
        },
      )
      .then(() => untilNext(signal, () => setTurn((before) => before + 1)));
    return () => stop.abort();
  }, [question, turn]);
  const again = () => setTurn(turn + 1);
  return state.question === question ? { ...state, again } : { again };
}

/** The interval starts at the end of a refresh. A hidden page does not refresh. @param {AbortSignal} signal @param {() => void} look */
function untilNext(signal, look) {
  if (signal.aborted) return;
  const timer = setInterval(() => document.hidden || look(), INTERVAL);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** @param {{ data: Data }} props */
const Tiles = ({ data }) =>
  h(
    'ul',
    { class: 'tiles' },
    /** @type {Tile[]} */ (Object.keys(OVERVIEW.tiles)).map((name) => {
      const counted = data.now[name];
      const before = data.before[name];
      const isBad = name === 'stillFailed' && (counted.value > 0 || !counted.exact);
      return h(
        'li',
        { key: name, class: `card ${isBad ? 'bad' : ''}`, id: `tile-${name}` },
        h('h2', {}, say(OVERVIEW.tiles[name])),
        h('p', { class: 'number' }, countText(counted)),
        before &&
          h(
            'p',
            { class: 'before' },
            h(Delta, { isFailures: name === 'stillFailed', counted, before }),
            h('span', { class: 'quiet' }, beforeText(data, before)),
          ),
        h('p', { class: 'quiet' }, sayWith(OVERVIEW.about[name], data.minutes)),
        h(Action, { name, counted }),
      );
    }),
  );

/** The next step of a card. @param {{ name: Tile, counted: Counted }} props */
function Action({ name, counted }) {
  if (name === 'received') {
    return h(
      'p',
      { class: 'action' },
      h('a', { href: hrefOf('pushes') }, say(OVERVIEW.viewPushes)),
    );
  }
  if (name !== 'stillFailed' || (counted.value === 0 && counted.exact)) return null;
  const text = counted.exact
    ? sayWith(OVERVIEW.fix, numberText(counted.value))
    : say(OVERVIEW.fixFailures);
  return h(
    'p',
    { class: 'action' },
    h('a', { class: 'button main', href: hrefOf('failures') }, text),
  );
}

/** More failures are bad, fewer are good; other changes are neither. @param {{ isFailures: boolean, counted: Counted, before: Counted }} props */
function Delta({ isFailures, counted, before }) {
  if (!counted.exact || !before.exact) return null;
  const text = changeText(counted.value, before.value);
  const tone = counted.value > before.value ? 'bad' : 'good';
  return h('strong', { class: `delta ${isFailures ? tone : ''}` }, text && `${text} `);
}

/** @param {Counted} counted */
export const countText = ({ value, exact }) => {
  if (exact) return numberText(value);
  return value > 0 ? sayWith(OVERVIEW.atLeast, numberText(value)) : say(OVERVIEW.notCounted);
};

/** @param {Data} data @param {Counted} counted */
const beforeText = ({ days }, counted) =>
  days === 1
    ? sayWith(OVERVIEW.dayBefore, countText(counted))
    : sayWith(OVERVIEW.daysBefore, days, countText(counted));

/** @param {{ data: Data }} props */
function Reasons({ data }) {
  const reasons = reasonsOf(data.stats).slice(0, TOP);
  const most = reasons[0]?.[1] ?? 1;
  return h(
    'section',
    { class: 'card', 'aria-label': say(OVERVIEW.reasons) },
    h('h2', {}, say(OVERVIEW.reasons)),
    h(
      'p',
      { class: 'quiet' },
      say(reasons.length === 0 ? OVERVIEW.noReasons : OVERVIEW.resolvedToo),
    ),
    h(
      'ol',
      { class: 'reasons' },
      reasons.map(([reason, pushes]) =>
        h(
          'li',
          { key: reason },
          h('a', { href: linkOf(reason), title: reason }, say(reasonWords(reason))),
          h('span', { class: 'count' }, numberText(pushes)),
          h(
            'span',
            { class: 'share', 'aria-hidden': 'true' },
            h('span', { style: { width: `${(100 * pushes) / most}%` } }),
          ),
        ),
      ),
    ),
  );
}

/** @param {string} reason */
const linkOf = (reason) =>
  isByAnybody(reason)
    ? hrefOf('pushes', { view: 'refused', reason })
    : hrefOf('failures', { reason, show: 'all' });
