/** A search whose pages may be empty before its end: so many are gone through without being asked. Pure. */

/** Pages; each of them is some thousands of entries that the service looked at. */
const UNASKED = 25;

/**
 * Reads until a page has something, or enough of them had nothing.
 *
 * @template L
 * @param {L} from
 * @param {(list: L) => Promise<{ list: L, isDone: boolean }>} readPage `isDone`: something was found, or it is the end
 * @param {(list: L) => void} onEmpty tells how far it came, so that it can go on from there
 * @returns {Promise<L & { isLoading: boolean, isPaused: boolean }>} `isPaused`: somebody has to say whether it goes on
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
