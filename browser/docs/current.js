/** Marks the visible part of the page in the contents. */

/** A part of the page is current if it is in this band near the top of the window. */
const BAND = { rootMargin: '-15% 0px -75% 0px' };

/** @param {HTMLElement} list the links, in the order of the page */
export function markCurrent(list) {
  const links = new Map([...list.querySelectorAll('a')].map((link) => [link.hash.slice(1), link]));
  /** @type {Set<string>} */
  const seen = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) seen.add(target.id);
      else seen.delete(target.id);
    }
    // The last visible part: an operation is inside the section of all operations.
    const current = [...links.keys()].filter((id) => seen.has(id)).at(-1);
    // Between two parts, the mark stays on the previous one.
    if (current !== undefined) mark(list, links, current);
  }, BAND);
  for (const id of links.keys()) {
    const part = document.getElementById(id);
    if (part) observer.observe(part);
  }
}

/** @param {HTMLElement} list @param {Map<string, HTMLElement>} links @param {string} current */
function mark(list, links, current) {
  for (const [id, link] of links) {
    if (id === current) link.setAttribute('aria-current', 'location');
    else link.removeAttribute('aria-current');
  }
  const link = links.get(current);
  const box = list.closest('nav');
  if (!link || !box) return;
  // Only the contents scroll: scrollIntoView would move the page as well.
  const above = link.getBoundingClientRect().top - box.getBoundingClientRect().top;
  if (above < 0 || above > box.clientHeight - 2 * link.offsetHeight) {
    box.scrollTop += above - box.clientHeight / 2;
  }
}
