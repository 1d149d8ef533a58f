/** Parses JSON into a tree that keeps the text of numbers and the order of members, unlike `JSON.parse`. */

export type JsonNode =
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'word'; readonly text: 'true' | 'false' | 'null' };

export type JsonMember = readonly [name: string, value: JsonNode];

/** Maximum levels of nesting. */
const MAX_DEPTH = 40;
const TOKENS = /"(?:[^"\\]|\\.)*"|[-+.\w]+|[[\]{}]/g;

/** @returns the tree; undefined if the text is not JSON or has more than MAX_DEPTH levels */
export function parseTree(text: string): JsonNode | undefined {
  try {
    // The code below assumes valid JSON.
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const tokens = text.match(TOKENS) ?? [];
  if (isTooDeep(tokens)) return undefined;
  let at = 0;
  const next = () => tokens[at++] ?? '';
  const consumed = (end: string) => tokens[at] === end && next() === end;
  const value = (): JsonNode => {
    const token = next();
    if (token === '{') return { kind: 'object', members: members() };
    if (token === '[') {
      const items: JsonNode[] = [];
      while (!consumed(']')) items.push(value());
      return { kind: 'array', items };
    }
    if (token.startsWith('"')) return { kind: 'string', value: JSON.parse(token) };
    if (token === 'true' || token === 'false' || token === 'null') {
      return { kind: 'word', text: token };
    }
    return { kind: 'number', text: token };
  };
  // The last value of a repeated name counts, as in most parsers.
  const members = () => {
    const found = new Map<string, JsonNode>();
    while (!consumed('}')) {
      const name: string = JSON.parse(next());
      found.set(name, value());
    }
    return [...found];
  };
  return value();
}

function isTooDeep(tokens: readonly string[]): boolean {
  let depth = 0;
  for (const token of tokens) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}
