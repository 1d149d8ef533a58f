/** Bodies of pushes. Pure. */

/** The operations that change a matter. */
export const OPERATIONS = ['upsert', 'status', 'reopen', 'delete'];

/**
 * Breaks JSON into lines; any other text stays as it is. Only white space changes: numbers, duplicate names and escapes
 * stay as they were sent.
 *
 * @param {string} body
 */
export function prettyOf(body) {
  try {
    JSON.parse(body);
  } catch {
    return body;
  }
  const words = body.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let depth = 0;
  let text = '';
  for (const [at, word] of words.entries()) {
    const before = words[at - 1] ?? '';
    const isEmpty = /[{[]/.test(before) && before.length === 1 && /^[}\]]$/.test(word);
    if (/^[}\]]$/.test(word)) depth -= 1;
    const begins = before === ',' || before === '{' || before === '[' || /^[}\]]$/.test(word);
    if (begins && !isEmpty) text += `\n${'  '.repeat(depth)}`;
    text += word === ':' ? ': ' : word;
    if (word === '{' || word === '[') depth += 1;
  }
  return text;
}
