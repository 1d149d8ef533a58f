/** The head of the page with the choice of language. */
import { element } from './dom.js';
import { preferredLanguage, say, speak } from './speech.js';
import { titleOf } from './text.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {import('./speech.js').Language} Language */

/** @type {readonly { language: Language, lang: string, name: string }[]} */
const LANGUAGES = [
  { language: 'en', lang: 'en', name: 'English' },
  { language: 'zh', lang: 'zh-CN', name: '中文' },
];

/** @param {Api} api */
export const head = ({ info }) =>
  element(
    'header',
    {},
    element('h1', {}, 'Matter Push ', element('small', {}, info.version)),
    element('p', {}, say(titleOf(info.summary))),
    element('p', {}, element('a', { href: 'openapi.json' }, say(WORDS.document))),
    languages(),
  );

/** Marks the button of the current language as pressed. */
function languages() {
  const buttons = LANGUAGES.map(({ language, lang, name }) => {
    const button = element('button', { type: 'button', lang, value: language }, name);
    button.addEventListener('click', () => choose(language));
    return button;
  });
  /** @param {Language} language */
  const choose = (language) => {
    speak(language);
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.value === language));
    }
  };
  choose(preferredLanguage());
  const label = element('span', { id: 'language' }, say(WORDS.language));
  const group = { class: 'languages', role: 'group', 'aria-labelledby': 'language' };
  return element('p', group, label, ...buttons);
}
