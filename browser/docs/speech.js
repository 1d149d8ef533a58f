/** Texts in two languages. A change of language replaces all texts on the page. */
import { element } from './dom.js';
import { marksOf } from './text.js';

/** @typedef {import('./shapes').Words} Words */
/** @typedef {'en' | 'zh'} Language */

/** Values of the attribute `lang`. */
const TAGS = { en: 'en', zh: 'zh-CN' };

/** The one asked for in the address (`?lang=zh`), else the browser's. @returns {Language} */
export function preferredLanguage() {
  const asked = new URLSearchParams(location.search).get('lang') ?? navigator.language;
  return asked.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

/** @type {WeakMap<Element, Words>} */
const said = new WeakMap();
let language = preferredLanguage();

/**
 * @param {Words} words may have the marks of Markdown for code and emphasis
 * @returns {HTMLElement} changes with the language
 */
export function say(words) {
  const span = element('span');
  said.set(span, words);
  utter(span, words);
  return span;
}

/** @param {Language} next */
export function speak(next) {
  language = next;
  document.documentElement.lang = TAGS[next];
  for (const span of document.querySelectorAll('span')) {
    const words = said.get(span);
    if (words) utter(span, words);
  }
}

/** @param {Element} span @param {Words} words */
function utter(span, [english, chinese]) {
  const parts = marksOf(language === 'en' ? english : chinese);
  span.replaceChildren(...parts.map(({ tag, text }) => (tag ? element(tag, {}, text) : text)));
}
