/** The texts of the operator page that contain values. */
import { language } from '../../../browser/console/kit/speech';
import { spanText } from '../../../browser/operator/parts';

test.each([
  ['en', ['–', '5 ms', '1.5 s', '4 min', '3 h']],
  ['zh', ['–', '5 ms', '1.5 s', '4 分钟', '3 小时']],
])('a span is in the language of the page: %s', (chosen, texts) => {
  language.value = chosen;
  expect([null, 5, 1_500, 240_000, 10_800_000].map(spanText)).toEqual(texts);
});
