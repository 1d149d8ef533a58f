/** The first step: a file is dropped, or chosen. */

import { h } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { say, sayWith } from '../../kit/speech.js';
import { chooseFile } from './run.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

export function FileStep() {
  const [isOver, setOver] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const { value: opened } = state.opened;
  const take = (/** @type {FileList | null | undefined} */ files) => {
    const [file] = files ?? [];
    if (file) void chooseFile(file);
    // The same file may be chosen again, once it was mended.
    if (input.current) input.current.value = '';
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
    h('h2', {}, say(RECONCILE.file)),
    opened ? h(About, { opened }) : h('p', {}, say(RECONCILE.drop)),
    h(
      'label',
      { class: 'button' },
      say(opened ? RECONCILE.another : RECONCILE.choose),
      h('input', {
        ref: input,
        id: 'reconcile-file',
        type: 'file',
        accept: '.csv,.txt,.ndjson,.jsonl,text/csv',
        onChange: (/** @type {any} */ event) => take(event.currentTarget.files),
      }),
    ),
  );
}

/** @param {{ opened: import('./read-source.js').Opened }} props */
function About({ opened }) {
  const { name, form, records, encoding } = opened;
  const lines = records.length - (state.hasHead.value ? 1 : 0);
  const known = encoding === 'gb18030' ? 'GBK' : encoding.toUpperCase();
  return h(
    'p',
    { class: 'chosen' },
    h('strong', {}, h('bdi', {}, name)),
    ` · ${sayWith(RECONCILE.forms[form], lines, known)}`,
  );
}
