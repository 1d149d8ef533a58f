/** Bodies of pushes. Pure. */

/** Those that change a matter. */
export const OPERATIONS = ['upsert', 'status', 'reopen', 'delete'];

/**
 * In lines where it is JSON, and as it is otherwise. Only white space between its words changes: numbers, names
 * that come twice and escapes stay as they came.
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
