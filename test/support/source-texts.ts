/** Reads the comments and the string literals of TypeScript source: the text that people read. */

export interface SourceText {
  readonly kind: 'comment' | 'string';
  /** Without comment marks and quotes; a template has `…` in place of each expression. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const QUOTED = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y;
const REGEX = /\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** A slash behind one of these starts a regular expression, elsewhere it divides. */
const BEFORE_REGEX = /(?:^|[=(,[:!&|?{};+\-*%<>~^]|=>|\breturn|\bcase|\btypeof)\s*$/;

/** @returns in the order of the source; adjacent `//` lines are one comment */
export function sourceTexts(source: string): SourceText[] {
  const texts: SourceText[] = [];
  scan(source, 0, texts);
  return joined(texts.sort((a, b) => a.line - b.line));

  /** @returns the position behind the closing brace of an expression in a template, or the end */
  function scan(text: string, start: number, found: SourceText[]): number {
    let depth = 0;
    let at = start;
    while (at < text.length) {
      const char = text[at];
      if (char === '}' && depth === 0 && start > 0) return at + 1;
      depth += char === '{' ? 1 : char === '}' ? -1 : 0;
      const token =
        matchAt(COMMENT, text, at) ??
        matchAt(QUOTED, text, at) ??
        (char === '/' && BEFORE_REGEX.test(text.slice(Math.max(0, at - 40), at))
          ? matchAt(REGEX, text, at)
          : undefined);
      if (char === '`') {
        at = template(text, at, found);
      } else if (token) {
        add(found, token, lineOf(text, at));
        at += token.length;
      } else at += 1;
    }
    return at;
  }

  /** @returns the position behind the closing back quote */
  function template(text: string, start: number, found: SourceText[]): number {
    let at = start + 1;
    let content = '';
    while (at < text.length && text[at] !== '`') {
      if (text.startsWith('${', at)) {
        at = scan(text, at + 2, found);
        content += '…';
      } else {
        const width = text[at] === '\\' ? 2 : 1;
        content += text.slice(at, at + width);
        at += width;
      }
    }
    found.push({ kind: 'string', text: content, line: lineOf(text, start) });
    return at + 1;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length;

function add(found: SourceText[], token: string, line: number): void {
  if (/^\/[/*]/.test(token)) {
    const text = token.replace(/^\/\*+|\*+\/$|^\/\//g, '').replace(/^\s*\*\s?/gm, '');
    found.push({ kind: 'comment', text: text.trim(), line });
  } else if (token.startsWith("'") || token.startsWith('"')) {
    found.push({ kind: 'string', text: token.slice(1, -1), line });
  }
}

/** Comments on lines that follow each other are one text: a sentence may span them. */
function joined(texts: readonly SourceText[]): SourceText[] {
  const all: { kind: SourceText['kind']; text: string; line: number; end: number }[] = [];
  for (const text of texts) {
    const end = text.line + text.text.split('\n').length - 1;
    const last = all.at(-1);
    if (last?.kind === 'comment' && text.kind === 'comment' && last.end + 1 === text.line) {
      last.text += `\n${text.text}`;
      last.end = end;
    } else all.push({ ...text, end });
  }
  return all.map(({ kind, text, line }) => ({ kind, text: text.replace(/\s+/g, ' '), line }));
}
