/** Tabs as in the ARIA practices: one is selected, and the arrow keys select the next one. */
import { element } from './dom.js';

/** @typedef {{ readonly name: string, readonly show: () => Promise<readonly (Node | string)[]> }} Tab */

/** The index of the selected tab after a key. @type {Readonly<Record<string, (index: number, count: number) => number>>} */
const MOVES = {
  ArrowRight: (index, count) => (index + 1) % count,
  ArrowLeft: (index, count) => (index + count - 1) % count,
  Home: () => 0,
  End: (_index, count) => count - 1,
};

/**
 * @param {string} id of the whole; those of its parts begin with it
 * @param {Node} label
 * @param {readonly Tab[]} tabs the first one is chosen
 */
export function tabsNode(id, label, tabs) {
  const panel = element('div', { id: `${id}-panel`, role: 'tabpanel', tabindex: '0' });
  const buttons = tabs.map(({ name }, index) =>
    element(
      'button',
      { type: 'button', role: 'tab', id: `${id}-${index}`, 'aria-controls': panel.id },
      name,
    ),
  );
  /** @param {number} chosen */
  const choose = async (chosen) => {
    buttons.forEach((button, index) => {
      button.setAttribute('aria-selected', String(index === chosen));
      button.tabIndex = index === chosen ? 0 : -1;
    });
    const labelledBy = `${id}-${chosen}`;
    panel.setAttribute('aria-labelledby', labelledBy);
    const nodes = (await tabs[chosen]?.show()) ?? [];
    // The user may have selected another tab while this one was loading.
    if (panel.getAttribute('aria-labelledby') === labelledBy) panel.replaceChildren(...nodes);
  };
  buttons.forEach((button, index) => {
    button.addEventListener('click', () => {
      if (button.getAttribute('aria-selected') !== 'true') void choose(index);
    });
    button.addEventListener('keydown', (event) => {
      const next = MOVES[event.key]?.(index, buttons.length);
      if (next === undefined) return;
      event.preventDefault();
      buttons[next]?.focus();
      void choose(next);
    });
  });
  void choose(0);
  const list = element('div', { role: 'tablist', 'aria-labelledby': `${id}-label` }, ...buttons);
  const title = element('span', { id: `${id}-label`, class: 'label' }, label);
  return element('div', { class: 'tabs', id }, title, list, panel);
}
