/**
 * Browsers limit the height of an element. A list above that limit gets a lower element, and scrolling is scaled up.
 * Pure.
 */

/** Pixels. The limit of browsers is between 16 and 33 million, and half of that on dense screens. */
const MAX_HEIGHT = 8_000_000;

/**
 * @param {number} rows @param {number} rowHeight @param {number} viewHeight of what is seen of it
 */
export function createScale(rows, rowHeight, viewHeight) {
  const whole = rows * rowHeight;
  const height = Math.min(whole, MAX_HEIGHT);
  const factor = whole > height ? (whole - viewHeight) / (height - viewHeight) : 1;
  return {
    /** The height of the element. */
    height,
    /** The offset in the whole list that a scroll position shows. @param {number} scrollTop */
    offsetAt: (scrollTop) => scrollTop * factor,
    /** The scroll position that shows an offset at the upper edge. @param {number} offset */
    scrollTopAt: (offset) => Math.max(0, offset) / factor,
    /** The position of a row in the element. @param {number} index @param {number} scrollTop */
    placeOf: (index, scrollTop) => index * rowHeight - scrollTop * (factor - 1),
  };
}
