/** The bytes of a body, and what the client has to know of it. */

/** A copy: what the caller does with the body later is not sent. */
export function bytesOf(body: object | Uint8Array): Buffer {
  return Buffer.from(body instanceof Uint8Array ? body : JSON.stringify(body));
}

/** The matter that a body names; undefined: its push depends on no other. */
export function externalIdOfBody(body: object | Uint8Array): string | undefined {
  const value = body instanceof Uint8Array ? parse(body) : body;
  return value && idOf(value);
}

export interface BatchBody {
  readonly bytes: Buffer;
  readonly externalId: string | undefined;
}

/**
 * A body as it can stand in a line of a batch: bytes as they are, but for line ends between values and blanks at
 * the ends. Those are no part of a body in a line: sent alone with them it would be another body under its key.
 *
 * @returns undefined for bytes that are no JSON: of those the service tells more where they come alone
 */
export function bodyInBatch(body: object | Uint8Array): BatchBody | undefined {
  const bytes = bytesOf(body);
  if (!(body instanceof Uint8Array)) return { bytes, externalId: idOf(body) };
  const value = parse(body);
  if (!value) return undefined;
  // In JSON no text holds a bare line end.
  for (const end of [LINE_FEED, CARRIAGE_RETURN]) {
    for (let at = bytes.indexOf(end); at !== -1; at = bytes.indexOf(end, at)) bytes[at] = BLANK;
  }
  return { bytes: trimBlanks(bytes), externalId: idOf(value) };
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const BLANK = 32;
const TAB = 9;

/** @param bytes of JSON, without line ends */
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
    // The service says what is wrong with it.
    return undefined;
  }
}
