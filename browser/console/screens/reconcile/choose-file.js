/** The first step: the user drops or chooses a file. */

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { say } from '../../kit/speech.js';
import { chooseFile } from './run.js';
import { saveSample } from './sample.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

export function FileStep() {
  const [isOver, setOver] = useState(false);
  const take = (/** @type {FileList | null | undefined} */ files) => {
    const [file] = files ?? [];
    if (file) void chooseFile(file);
  };
  const over = (/** @type {boolean} */ is) => (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(is);
  };
  const drop = (/** @type {DragEvent} */ event) => {
    over(false)(event);
    take(event.dataTransfer?.files);
  };
  return h(
    'div',
    {
      class: `card drop ${isOver ? 'over' : ''}`,
      ...{ onDragOver: over(true), onDragLeave: over(false), onDrop: drop },
    },
    h('p', {}, say(RECONCILE.drop)),
    h(
      'p',
      { class: 'buttons' },
      h(
        'label',
        { class: 'button' },
        say(RECONCILE[state.opened.value ? 'another' : 'choose']),
        h('input', {
          id: 'reconcile-file',
          type: 'file',
          accept: '.csv,.txt,.ndjson,.jsonl,text/csv',
          onChange: ({ currentTarget }) => {
            take(currentTarget.files);
            // The user may choose the same file again after changing it.
            currentTarget.value = '';
          },
        }),
      ),
      h('button', { type: 'button', id: 'sample', onClick: saveSample }, say(RECONCILE.sample)),
    ),
  );
}
