/** How a system's pushes go: what came, what was written, what still fails and why; looked at again as time goes. */
import { useEffect, useState } from './lib/hooks.js';
import { h } from './lib/preact.js';
import { Chart } from './overview-chart.js';
import { askOverview } from './overview-data.js';
import { Ledger } from './overview-ledger.js';
import { reasonsOf, windowsOf } from './overview-sums.js';
import { OVERVIEW } from './overview-words.js';
import { Failure, Nothing, numberText, Waiting } from './parts.js';
import { isByAnybody, reasonWords } from './reasons.js';
import { hrefOf, route } from './route.js';
import { self } from './self.js';
import { say, sayWith } from './speech.js';

/** @typedef {import('./overview-data.js').Counted} Counted */
/** @typedef {Awaited<ReturnType<typeof askOverview>> & { days: number }} Data */
/** @typedef {keyof Data['now']} Tile */

/** Milliseconds from the end of one look to the next one. */
const INTERVAL = 30_000;
const TOP = 8;

export function Overview() {
  const { data, error, again } = useOverview();
  return h(
    'section',
    { class: 'overview' },
    h('h1', {}, say(OVERVIEW.heading)),
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

/** Asked anew where the range changes and as time goes; what is shown stays while it is asked for. */
function useOverview() {
  const { range, from, to, lang } = route.value.params;
  const zone = self.value?.timeZone;
  const question = JSON.stringify([range, from, to, lang, zone]);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState(
    /** @type {{ question?: string, data?: Data, error?: unknown }} */ ({}),
  );
  useEffect(() => {
    const me = /** @type {import('./setup-shapes').OwnSelf | undefined} */ (self.peek());
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

/** A look may take longer than what lies between two. While nobody sees the page none begins. @param {AbortSignal} signal @param {() => void} look */
function untilNext(signal, look) {
  if (signal.aborted) return;
  const timer = setInterval(() => document.hidden || look(), INTERVAL);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** Where a tile leads to. @type {Partial<Record<Tile, () => string>>} */
const LINKS = { received: () => hrefOf('pushes'), stillFailed: () => hrefOf('failures') };

/** @param {{ data: Data }} props */
const Tiles = ({ data }) =>
  h(
    'ul',
    { class: 'tiles' },
    /** @type {Tile[]} */ (Object.keys(OVERVIEW.tiles)).map((name) => {
      const counted = data.now[name];
      const before = data.before[name];
      const tone = name === 'stillFailed' && (counted.value > 0 || !counted.exact) ? 'bad' : '';
      const number = countText(counted);
      const href = LINKS[name]?.();
      return h(
        'li',
        { key: name, class: `card ${tone}`, id: `tile-${name}` },
        h('h2', {}, say(OVERVIEW.tiles[name])),
        h('p', { class: 'number' }, href ? h('a', { href }, number) : number),
        h('p', { class: 'quiet' }, sayWith(OVERVIEW.about[name], data.minutes)),
        before && h('p', { class: 'before' }, beforeText(data, before)),
      );
    }),
  );

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
  return h(
    'section',
    { class: 'card', 'aria-label': say(OVERVIEW.reasons) },
    h('h2', {}, say(OVERVIEW.reasons)),
    reasons.length === 0
      ? h('p', { class: 'quiet' }, say(OVERVIEW.noReasons))
      : h('p', { class: 'quiet' }, say(OVERVIEW.mendedToo)),
    h(
      'ol',
      { class: 'reasons' },
      reasons.map(([reason, pushes]) =>
        h(
          'li',
          { key: reason },
          h('a', { href: linkOf(reason) }, say(reasonWords(reason))),
          h('code', { class: 'quiet' }, reason),
          h('span', { class: 'count' }, numberText(pushes)),
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
