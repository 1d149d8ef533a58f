/** The title of a screen. A screen that shows a time range has its range in the same row. */
import { h } from 'preact';
import { lookAnew } from '../kit/moment.js';
import { route, show } from '../kit/route.js';
import { say } from '../kit/speech.js';
import { WORDS } from '../kit/words.js';
import { RANGES } from './range.js';
import { self } from './self.js';

/** @param {{ hasRange?: boolean, children?: import('preact').ComponentChildren }} props */
export const Heading = ({ hasRange = true, children }) =>
  h('div', { class: 'heading' }, h('h1', {}, children), hasRange && h(Range, {}));

function Range() {
  const { range = 'today', from = '', to = '' } = route.value.params;
  const input = (/** @type {'from' | 'to'} */ name, /** @type {string} */ value) =>
    h(
      'label',
      {},
      say(WORDS[name]),
      h('input', {
        type: 'datetime-local',
        value,
        onChange: (event) => show({ [name]: event.currentTarget.value }),
      }),
    );
  return h(
    'div',
    { class: 'range', role: 'group', 'aria-label': say(WORDS.range) },
    h(
      'span',
      { class: 'segments' },
      RANGES.map((name) =>
        h(
          'button',
          {
            type: 'button',
            key: name,
            'aria-pressed': String(name === range),
            onClick: () => {
              show({ range: name === 'today' ? '' : name, from: '', to: '' });
              lookAnew();
            },
          },
          say(WORDS.ranges[/** @type {'today'} */ (name)]),
        ),
      ),
    ),
    range === 'custom' && input('from', from),
    range === 'custom' && input('to', to),
    h('span', { class: 'quiet' }, self.value?.timeZone),
  );
}
