/** Writes a tar archive (ustar) that depends only on names, contents and modes of its files. */

const BLOCK = 512;

/**
 * @param {{ name: string, isExecutable: boolean, bytes: Buffer }[]} files names have at most 100 bytes
 * @returns {Buffer}
 */
export function tarOf(files) {
  const parts = files.flatMap(({ name, isExecutable, bytes }) => [
    headerOf(name, isExecutable ? 0o755 : 0o644, bytes.length),
    bytes,
    Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function headerOf(name, mode, size) {
  if (Buffer.byteLength(name) > 100) throw new Error(`The name is too long for tar: ${name}`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value, length) => value.toString(8).padStart(length - 1, '0');
  const fields = [
    [0, name],
    [100, octal(mode, 8)],
    [108, octal(0, 8)], // user
    [116, octal(0, 8)], // group
    [124, octal(size, 12)],
    [136, octal(0, 12)], // time of the last change
    [148, ' '.repeat(8)], // the sum counts its own place as blanks
    [156, '0'], // a regular file
    [257, 'ustar\u000000'],
  ];
  for (const [at, text] of fields) header.write(text, at);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
