import { h } from './lib/preact.js';
import { show } from './route.js';
import { isEnglish } from './speech.js';

/** The other language, by its own name. */
export const Languages = () =>
  h(
    'button',
    {
      type: 'button',
      class: 'language',
      lang: isEnglish() ? 'zh-CN' : 'en',
      onClick: () => show({ lang: isEnglish() ? '' : 'en' }),
    },
    isEnglish() ? '中文' : 'English',
  );
