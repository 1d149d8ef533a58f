/**
 * A list that is higher than a browser lets an element be: it is drawn lower, and what is scrolled by a little moves
 * it by more. Pure.
 */

/** Pixels. Browsers end between 16 and 33 million, those of dense screens at half of it. */
const MAX_HEIGHT = 8_000_000;

/**
 * @param {number} rows @param {number} rowHeight @param {number} viewHeight of what is seen of it
 */
export function createScale(rows, rowHeight, viewHeight) {
  const whole = rows * rowHeight;
  const height = Math.min(whole, MAX_HEIGHT);
  const factor = whole > height ? (whole - viewHeight) / (height - viewHeight) : 1;
  return {
    /** Of the element. */
    height,
    /** Where in the whole list somebody is. @param {number} scrollTop */
    offsetAt: (scrollTop) => scrollTop * factor,
    /** Where it is scrolled to so that this is at the upper edge. @param {number} offset */
    scrollTopAt: (offset) => Math.max(0, offset) / factor,
    /** Where in the element a row lies. @param {number} index @param {number} scrollTop */
    placeOf: (index, scrollTop) => index * rowHeight - scrollTop * (factor - 1),
  };
}
