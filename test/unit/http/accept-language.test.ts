/** Which language a caller gets. */
import { languageOf } from '../../../src/http/request';

test.each([
  [undefined, 'zh'],
  ['', 'zh'],
  // What fetch of Node sends of its own accord.
  ['*', 'zh'],
  ['en', 'en'],
  ['EN-us', 'en'],
  ['en-US,en;q=0.9,zh-CN;q=0.8', 'en'],
  ['zh-CN, en', 'zh'],
  ['zh;q=0.5, en;q=0.50', 'zh'],
  ['zh;q=0.5 , en ; q=0.6', 'en'],
  ['fr, en;q=0.1', 'en'],
  ['fr, de', 'zh'],
  ['en;q=0', 'zh'],
  ['en;q=2, zh;q=0.1', 'zh'],
  ['english', 'zh'],
  [',;,;q=,=;', 'zh'],
])('%j is answered in %s', (header, language) => {
  expect(languageOf(header)).toBe(language);
});
