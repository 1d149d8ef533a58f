/** The request as a shell command. Pure. */

/** @typedef {import('./shapes').SignedCall} SignedCall */

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param {SignedCall} call @returns {string} several lines */
export function curlOf({ url, headers, body }) {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [`curl -sS ${quoted(url)}`, ...lines, `--data-raw ${quoted(body)}`].join(' \\\n  ');
}
