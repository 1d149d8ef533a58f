/** Values turned into text by languages that were given no text. */
import type { Json } from './json-tree';

/** `repr` of bytes: what an f-string makes of a body in bytes. */
export function pythonBytes(bytes: Uint8Array): string {
  const quote = bytes.includes(0x27) && !bytes.includes(0x22) ? '"' : "'";
  const text = Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    if (char === '\\' || char === quote) return `\\${char}`;
    if (char === '\n') return '\\n';
    if (char === '\r') return '\\r';
    if (char === '\t') return '\\t';
    return byte >= 0x20 && byte < 0x7f ? char : `\\x${byte.toString(16).padStart(2, '0')}`;
  });
  return `b${quote}${text.join('')}${quote}`;
}

/** `str` of a dict: single quotes, True, None. */
export function pythonDict(json: Json): string {
  switch (json.kind) {
    case 'object': {
      const items = json.members.map(([name, value]) => `${quoted(name)}: ${pythonDict(value)}`);
      return `{${items.join(', ')}}`;
    }
    case 'array':
      return `[${json.items.map(pythonDict).join(', ')}]`;
    case 'string':
      return quoted(json.value);
    case 'number':
      return json.text;
    case 'word':
      return { true: 'True', false: 'False', null: 'None' }[json.text];
    default:
      return json satisfies never;
  }
}

/** `toString` of a Map. */
export function javaMap(json: Json): string {
  switch (json.kind) {
    case 'object':
      return `{${json.members.map(([name, value]) => `${name}=${javaMap(value)}`).join(', ')}}`;
    case 'array':
      return `[${json.items.map(javaMap).join(', ')}]`;
    case 'string':
      return json.value;
    default:
      return json.text;
  }
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}
