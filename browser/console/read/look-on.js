/** A search with pages that may be empty: it reads some of them, and then the user decides whether it continues. Pure. */

/** Pages that it reads without asking; for each, the service scans some thousands of entries. */
const UNASKED = 25;

/**
 * Reads until a page has a match, or until the limit of empty pages.
 *
 * @template L
 * @param {L} from
 * @param {(list: L) => Promise<{ list: L, isDone: boolean }>} readPage `isDone`: there was a match, or it was the last page
 * @param {(list: L) => void} onEmpty receives the position, so that the search can continue from there
 * @returns {Promise<L & { isLoading: boolean, isPaused: boolean }>} `isPaused`: the user decides whether it continues
 */
export async function lookOn(from, readPage, onEmpty) {
  let list = from;
  for (let pages = 1; ; pages += 1) {
    const read = await readPage(list);
    list = read.list;
    if (read.isDone || pages >= UNASKED)
      return { ...list, isLoading: false, isPaused: !read.isDone };
    onEmpty(list);
  }
}
