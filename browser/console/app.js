/** The page: the sign-in, or a screen in its frame. The guard shows an error of a screen. */
import { h } from 'preact';
import { useEffect } from 'preact/hooks';
import { Entrance } from './entrance.js';
import { Frame } from './frame.js';
import { Guard } from './kit/guard.js';
import { route } from './kit/route.js';
import { isEnglish, say } from './kit/speech.js';
import { WORDS } from './kit/words.js';
import { session } from './read/session.js';
import { IN_NAVIGATION, isScreen, Screen } from './screens.js';

export function App() {
  const { screen } = route.value;
  const name = isScreen(screen) ? screen : 'overview';
  useEffect(() => {
    document.documentElement.lang = isEnglish() ? 'en' : 'zh-CN';
    document.title = `${say(WORDS[/** @type {'pushes'} */ (name)])} – ${say(WORDS.title)}`;
  });
  if (!session.value) return h(Entrance, {});
  return h(
    Frame,
    { screens: IN_NAVIGATION, current: name, key: Object.values(session.value).join(' ') },
    h(Guard, { key: name, words: WORDS.broken, again: WORDS.tryAgain }, h(Screen, { name })),
  );
}
