/** The choice of the language. It is remembered in the browser; a new user gets the language of the browser. */
import { h } from 'preact';
import { show } from './route.js';
import { isEnglish, language } from './speech.js';
import { inStore } from './store.js';

const NAME = 'matter-push.language';
const localStore = () => localStorage;

/** Call it before the page is shown. */
export function followLanguage() {
  const isChinese = navigator.languages[0]?.toLowerCase().startsWith('zh');
  language.value = inStore(localStore, (store) => store.getItem(NAME)) ?? (isChinese ? 'zh' : 'en');
}

/** @param {'zh' | 'en'} chosen */
function choose(chosen) {
  inStore(localStore, (store) => store.setItem(NAME, chosen));
  language.value = chosen;
  show({ lang: chosen });
}

/** The other language, by its own name. */
export const Languages = () =>
  h(
    'button',
    {
      type: 'button',
      class: 'language',
      lang: isEnglish() ? 'zh-CN' : 'en',
      onClick: () => choose(isEnglish() ? 'zh' : 'en'),
    },
    isEnglish() ? '中文' : 'English',
  );
