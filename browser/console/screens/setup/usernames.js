/** Reads pasted usernames, and finds the usernames that a push may not name. Pure. */

/** @typedef {import('../../read/setup-shapes').CheckedUser} CheckedUser */
/** @typedef {{ readonly username: string, readonly state: 'UNKNOWN' | 'DISABLED' | 'INVALID' }} BadUser */

/** The maximum number of names in a query, and the maximum length of a name. */
const AT_ONCE = 1_000;
const LONGEST = 64;

/** @param {string} text @returns {string[]} each once, in their order */
export const namesIn = (text) => [
  ...new Set(text.split(/[\s,;，；、]+/u).filter((name) => name !== '')),
];

/** The service looks up no other texts. @param {string} name */
const isName = (name) => name.length <= LONGEST && !/[\p{Cc}\p{Cs}]/u.test(name);

/**
 * @param {readonly string[]} names
 * @param {(usernames: readonly string[]) => Promise<{ users: readonly CheckedUser[] }>} check
 * @returns {Promise<BadUser[]>} those that a push may not name
 */
export async function badUsers(names, check) {
  const good = names.filter(isName);
  const states = new Map();
  for (let at = 0; at < good.length; at += AT_ONCE) {
    const { users } = await check(good.slice(at, at + AT_ONCE));
    for (const { username, state } of users) states.set(username, state);
  }
  return names.flatMap((username) => {
    const state = states.get(username) ?? 'INVALID';
    return state === 'ENABLED' ? [] : [{ username, state }];
  });
}
