/** Elements, without a template that could take a text for markup. */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string>>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A text as it is, to be read and copied; it scrolls, also by the keyboard. @param {string} text */
export const verbatim = (text) => element('pre', { tabindex: '0' }, element('code', {}, text));

/** A value as JSON; a text as it is. @param {unknown} value */
export const pretty = (value) =>
  verbatim(typeof value === 'string' ? value : JSON.stringify(value, null, 2));
