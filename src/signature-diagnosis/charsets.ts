/** A text in character sets that are not UTF-8: what a program signs that takes its platform's own. */

const LEADS = [0x81, 0xfe] as const;
const TRAILS = [0x40, 0xfe] as const;
const UNKNOWN = 0x3f;
const LINE_FEED = 0x0a;

/** GBK of text that has nothing else; made of the decoder, since there is no encoder. */
export function toGbk(text: string): Buffer {
  gbk ??= gbkTable();
  const table = gbk;
  return Buffer.from(
    [...text].flatMap((char) =>
      char <= '\x7f' ? [char.charCodeAt(0)] : (table.get(char) ?? [UNKNOWN]),
    ),
  );
}

/** ISO-8859-1: what it does not have becomes a question mark. */
export const toLatin1 = (text: string): Buffer =>
  Buffer.from([...text].map((char) => (char <= '\xff' ? char.charCodeAt(0) : UNKNOWN)));

let gbk: Map<string, readonly number[]> | undefined;

function gbkTable(): Map<string, readonly number[]> {
  const pairs: (readonly [number, number])[] = [];
  for (let lead: number = LEADS[0]; lead <= LEADS[1]; lead += 1) {
    for (let trail: number = TRAILS[0]; trail <= TRAILS[1]; trail += 1) pairs.push([lead, trail]);
  }
  // In one go: 24,000 calls of the decoder would hold up all other requests.
  const bytes = Uint8Array.from(pairs.flatMap((pair) => [...pair, LINE_FEED]));
  const chars = new TextDecoder('gbk').decode(bytes).split('\n');
  const table = new Map<string, readonly number[]>();
  for (const [at, pair] of pairs.entries()) {
    const char = chars[at] ?? '';
    if (char.length === 1 && char !== '\ufffd' && !table.has(char)) table.set(char, pair);
  }
  return table;
}
