/** Answers for users of the console who are no programmers. */
import { h } from 'preact';
import { say } from '../../kit/speech.js';
import { WORDS } from '../../kit/words.js';
import { TOPICS } from './words.js';

/** @typedef {import('../../kit/speech.js').Words} Words */

/** @param {readonly Words[]} texts */
const paragraphs = (texts) => texts.map((words) => h('p', { key: words[0] }, say(words)));

export const Help = () =>
  h(
    'section',
    { class: 'help' },
    h('h1', {}, say(WORDS.help)),
    TOPICS.map(({ question, answer, steps = [] }) =>
      h(
        'section',
        { class: 'card', key: question[0] },
        h('h2', {}, say(question)),
        paragraphs(answer),
        steps.length > 0 &&
          h(
            'ol',
            {},
            steps.map((words) => h('li', { key: words[0] }, say(words))),
          ),
      ),
    ),
  );
