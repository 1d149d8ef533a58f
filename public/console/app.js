/** The page: the entrance, or a screen in its frame. What goes wrong in a screen is told in words. */
import { Entrance } from './entrance.js';
import { Failures } from './failures.js';
import { Frame } from './frame.js';
import { Guard } from './guard.js';
import { useEffect } from './lib/hooks.js';
import { h } from './lib/preact.js';
import { Matter } from './matter.js';
import { Matters } from './matters.js';
import { Overview } from './overview.js';
import { Push } from './push.js';
import { Pushes } from './pushes.js';
import { Reconcile } from './reconcile.js';
import { route } from './route.js';
import { session } from './session.js';
import { Setup } from './setup.js';
import { isEnglish, say } from './speech.js';
import { WORDS } from './words.js';

/** By their names in the address; those in the navigation first. */
const SCREENS = {
  overview: Overview,
  failures: Failures,
  pushes: Pushes,
  push: Push,
  matters: Matters,
  matter: Matter,
  reconcile: Reconcile,
  setup: Setup,
};
const IN_NAVIGATION = ['overview', 'failures', 'pushes', 'matters', 'reconcile', 'setup'];

export function App() {
  const { screen } = route.value;
  const name = Object.hasOwn(SCREENS, screen) ? screen : 'overview';
  useEffect(() => {
    document.documentElement.lang = isEnglish() ? 'en' : 'zh-CN';
    document.title = `${say(WORDS[/** @type {'pushes'} */ (name)])} – ${say(WORDS.title)}`;
  });
  if (!session.value) return h(Entrance, {});
  const shown = h(SCREENS[/** @type {'pushes'} */ (name)], {});
  return h(
    Frame,
    { screens: IN_NAVIGATION, current: name, key: Object.values(session.value).join(' ') },
    h(Guard, { key: name, words: WORDS.broken, again: WORDS.tryAgain }, shown),
  );
}
