/**
 * JSON as it was written: numbers as their text, members in their order. What a caller may have signed
 * is the same values written in another way.
 */

export type Json =
  | { readonly kind: 'object'; readonly members: readonly Member[] }
  | { readonly kind: 'array'; readonly items: readonly Json[] }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'word'; readonly text: 'true' | 'false' | 'null' };

export type Member = readonly [name: string, value: Json];

/** Deeper is no request of ours (they have 32 levels at most), and indented it would be megabytes. */
const MAX_DEPTH = 40;
const TOKENS = /"(?:[^"\\]|\\.)*"|[-+.\w]+|[[\]{}]/g;

/** @returns undefined where it is no JSON, or nested too deeply */
export function parseTree(text: string): Json | undefined {
  try {
    // Only its judgement is wanted: it drops how numbers were written.
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const tokens = text.match(TOKENS) ?? [];
  if (isTooDeep(tokens)) return undefined;
  let at = 0;
  const next = () => tokens[at++] ?? '';
  const isOver = (end: string) => tokens[at] === end && next() === end;
  const value = (): Json => {
    const token = next();
    if (token === '{') return { kind: 'object', members: members() };
    if (token === '[') {
      const items: Json[] = [];
      while (!isOver(']')) items.push(value());
      return { kind: 'array', items };
    }
    if (token.startsWith('"')) return { kind: 'string', value: JSON.parse(token) };
    if (token === 'true' || token === 'false' || token === 'null') {
      return { kind: 'word', text: token };
    }
    return { kind: 'number', text: token };
  };
  // Of a name that comes twice everybody keeps the first place and the last value.
  const members = () => {
    const found = new Map<string, Json>();
    while (!isOver('}')) {
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
