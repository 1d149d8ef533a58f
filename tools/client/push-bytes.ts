/** The bytes of a body, and the matter that it names. */

/** Copies a body, so that later changes by the caller are not sent. */
export function bytesOf(body: object | Uint8Array): Buffer {
  return Buffer.from(body instanceof Uint8Array ? body : JSON.stringify(body));
}

/** The externalId in a body; undefined: its push does not depend on other pushes. */
export function externalIdOfBody(body: object | Uint8Array): string | undefined {
  const value = body instanceof Uint8Array ? parse(body) : body;
  return value && idOf(value);
}

export interface BatchBody {
  readonly bytes: Buffer;
  readonly externalId: string | undefined;
}

/**
 * Converts a body for a line of a batch. Line ends between values become blanks, and blanks at the ends are removed.
 * A line cannot contain them, and with them a retry as a single push would have another body under the same key.
 *
 * @returns undefined if the bytes are not JSON. Send such a body alone, because the service then reports more details
 */
export function bodyInBatch(body: object | Uint8Array): BatchBody | undefined {
  const bytes = bytesOf(body);
  if (!(body instanceof Uint8Array)) return { bytes, externalId: idOf(body) };
  const value = parse(body);
  if (!value) return undefined;
  // A string in JSON cannot contain a line end, so every line end is between values.
  for (const end of [LINE_FEED, CARRIAGE_RETURN]) {
    for (let at = bytes.indexOf(end); at !== -1; at = bytes.indexOf(end, at)) bytes[at] = BLANK;
  }
  return { bytes: trimBlanks(bytes), externalId: idOf(value) };
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const BLANK = 32;
const TAB = 9;

/** @param bytes JSON without line ends */
function trimBlanks(bytes: Buffer): Buffer {
  const isBlank = (at: number) => bytes[at] === BLANK || bytes[at] === TAB;
  let [start, end] = [0, bytes.length];
  while (isBlank(start)) start += 1;
  while (isBlank(end - 1)) end -= 1;
  return bytes.subarray(start, end);
}

function idOf(value: object): string | undefined {
  const { externalId } = value as { readonly externalId?: unknown };
  return typeof externalId === 'string' ? externalId : undefined;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parse(bytes: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(UTF8.decode(bytes));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // The service reports the error.
    return undefined;
  }
}
