/** The history of a matter: its pushes as a timeline, the newest first; each entry leads to its push. */

import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { OPERATION_WORDS } from '../../kit/matter-words.js';
import { lengthText, Waiting } from '../../kit/parts.js';
import { hrefOf } from '../../kit/route.js';
import { say, sayName, sayWith } from '../../kit/speech.js';
import { Failure, resultText, toneOf } from '../../read/answer-parts.js';
import { ask } from '../../read/ask.js';
import { ChangeItems } from '../../read/change-items.js';
import { self } from '../../read/self.js';
import { When } from '../../read/when.js';
import { MATTER_WORDS } from '../matters/words.js';

/** @typedef {import('../../read/shapes').Entry} Entry */
/** @typedef {import('../../read/shapes').LogPage} LogPage */

const PAGE = 50;

/** @type {{ entries: readonly Entry[], cursor: string | null, isLoading: boolean, error?: unknown }} */
const NONE = { entries: [], cursor: null, isLoading: false };

/** @param {string} externalId */
function useHistory(externalId) {
  const [history, setHistory] = useState({ ...NONE, isLoading: true });
  const [wanted, setWanted] = useState(1);
  useEffect(() => {
    const stop = new AbortController();
    const { error: _, ...before } = history;
    setHistory({ ...before, isLoading: true });
    const body = { externalId, limit: PAGE, cursor: before.cursor };
    ask('push-logs/query', body, stop.signal).then(
      ({ entries, nextCursor }) =>
        setHistory({
          entries: [...before.entries, ...entries],
          cursor: nextCursor,
          isLoading: false,
        }),
      (error) => {
        if (!stop.signal.aborted) setHistory({ ...before, error, isLoading: false });
      },
    );
    return () => stop.abort();
  }, [externalId, wanted]);
  return { ...history, more: () => setWanted(wanted + 1) };
}

/** @param {{ externalId: string }} props */
export function History({ externalId }) {
  const { entries, cursor, isLoading, error, more } = useHistory(externalId);
  const kept = /** @type {import('../../read/setup-shapes').OwnSelf | undefined} */ (self.value);
  return h(
    'div',
    { class: 'card' },
    h('h2', {}, say(MATTER_WORDS.history)),
    kept &&
      h(
        'p',
        { class: 'quiet' },
        sayWith(MATTER_WORDS.historyKept, lengthText(kept.retentions.pushLog * 1_000)),
      ),
    !isLoading && !error && entries.length === 0 && h('p', {}, say(MATTER_WORDS.noHistory)),
    h(
      'ol',
      { class: 'history' },
      entries.map((entry) => h(Step, { key: entry.requestId, entry })),
    ),
    error ? h(Failure, { error, again: more }) : null,
    isLoading && h(Waiting, {}),
    cursor !== null &&
      !isLoading &&
      h('button', { type: 'button', onClick: more }, say(MATTER_WORDS.older)),
  );
}

/** @param {{ entry: Entry }} props */
const Step = ({ entry }) =>
  h(
    'li',
    { class: toneOf(entry) },
    h(
      'p',
      {},
      h('a', { href: hrefOf('push', { id: entry.requestId }) }, h(When, { at: entry.receivedAt })),
      ` ${sayName(OPERATION_WORDS, entry.operation)} · `,
      h('strong', { class: 'result' }, resultText(entry)),
      ' ',
      h('bdi', { class: 'quiet' }, entry.clientId),
    ),
    entry.state === 'PERSISTED' && entry.outcome !== 'STALE_IGNORED'
      ? h(ChangeItems, { changes: entry.changes })
      : null,
  );
