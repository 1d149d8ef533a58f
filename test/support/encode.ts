/** Texts in encodings that only a decoder is at hand for: the bytes are those that it decodes to the characters. */

const maps = new Map<string, ReadonlyMap<string, Buffer>>();

/** @param encoding of one or two bytes a character, such as gbk, big5, shift_jis */
export function encode(text: string, encoding: string): Buffer {
  const bytesOf = mapOf(encoding);
  return Buffer.concat(
    [...text].map((character) => {
      const bytes = bytesOf.get(character);
      if (!bytes) throw new Error(`${encoding} has no ${character}`);
      return bytes;
    }),
  );
}

/** Of a file that PowerShell writes. */
export const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

function mapOf(encoding: string): ReadonlyMap<string, Buffer> {
  const known = maps.get(encoding);
  if (known) return known;
  const decoder = new TextDecoder(encoding);
  const map = new Map<string, Buffer>();
  for (let lead = 0; lead < 0x80; lead += 1) map.set(String.fromCharCode(lead), Buffer.of(lead));
  for (let lead = 0x81; lead <= 0xff; lead += 1) {
    const single = decoder.decode(Buffer.of(lead));
    if (single !== '\ufffd') map.set(single, Buffer.of(lead));
    for (let trail = 0x40; trail < 0xff; trail += 1) {
      const bytes = Buffer.of(lead, trail);
      const text = decoder.decode(bytes);
      if ([...text].length === 1 && text !== '\ufffd' && !map.has(text)) map.set(text, bytes);
    }
  }
  maps.set(encoding, map);
  return map;
}
