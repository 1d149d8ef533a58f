/** Leads to what a link names, also where it is folded. */

/** Opens what is around a part of the page, and shows it. @param {string} hash of the address */
export function reveal(hash) {
  const found = hash.length > 1 ? named(decoded(hash.slice(1))) : null;
  if (!found) return;
  for (let at = /** @type {Element | null} */ (found); at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) at.open = true;
  }
  found.scrollIntoView();
}

/** Links to `#schema-…` are from the time when all schemas stood together. @param {string} id */
const named = (id) =>
  document.getElementById(id) ??
  document.querySelector(`[data-schema="${CSS.escape(id.replace(/^schema-/, ''))}"]`);

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    // Somebody's own per cent sign: then it is taken as it is.
    return text;
  }
}
