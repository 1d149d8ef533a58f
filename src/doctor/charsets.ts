/** A text in character sets that are not UTF-8: what a program signs that takes its platform's own. */

const LEADS = [0x81, 0xfe] as const;
const TRAILS = [0x40, 0xfe] as const;
const UNKNOWN = 0x3f;

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
  const decoder = new TextDecoder('gbk');
  const table = new Map<string, readonly number[]>();
  for (let lead: number = LEADS[0]; lead <= LEADS[1]; lead += 1) {
    for (let trail: number = TRAILS[0]; trail <= TRAILS[1]; trail += 1) {
      const char = decoder.decode(Uint8Array.of(lead, trail));
      if (char.length === 1 && char !== '\ufffd' && !table.has(char))
        table.set(char, [lead, trail]);
    }
  }
  return table;
}
