/** Shows the part of the page that a link names. */

/** Unfolds a part of the page and everything around it, and scrolls to it. @param {string} hash of the address */
export function reveal(hash) {
  const found = hash.length > 1 ? named(decoded(hash.slice(1))) : null;
  if (!found) return;
  const own = found.querySelector(':scope > details');
  for (let at = own ?? found; at; at = /** @type {Element} */ (at.parentElement)) {
    if (at instanceof HTMLDetailsElement) at.open = true;
  }
  found.scrollIntoView();
}

/** `#schema-…` names the first place of a schema, which may be in several operations. @param {string} id */
const named = (id) =>
  document.getElementById(id) ??
  document.querySelector(`[data-schema="${CSS.escape(id.replace(/^schema-/, ''))}"]`);

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    // A per cent sign that encodes nothing: the text is the id itself.
    return text;
  }
}
