/** The catalogue of mistakes in signatures: a stable code, an explanation and a fix for each mistake. */
import type { Difference, Finding } from '../protocol/log-page';

const SAME_BYTES = 'Create the body once, as bytes. Sign and send these same bytes.';
const THE_TEXT = 'Sign clientId + "\\n" + timestamp + "\\n" + body, with line feeds (0x0A).';
const THE_SECRET = 'Use exactly the secret that was printed, without other text around it.';
const THE_HEX = 'Send the HMAC-SHA256 as 64 hex digits, and nothing else.';
const SECONDS = 'Send Unix time in whole seconds, and sign the same text that you send.';

const CATALOGUE = {
  BODY_EMPTY: ['An empty body was signed', SAME_BYTES],
  BODY_LINE_FEED_ADDED: [
    'A line break was signed after the body',
    `${SAME_BYTES} In a shell, use printf %s, not echo. In curl, use --data-binary, not -d.`,
  ],
  BODY_TRIMMED: ['The body was signed without the white space at its ends', SAME_BYTES],
  BODY_CRLF: ['The body was signed with CRLF line breaks and sent with LF', SAME_BYTES],
  BODY_LF: ['The body was signed with LF line breaks and sent with CRLF', SAME_BYTES],
  BODY_LINES_JOINED: ['The body was signed without its line breaks', SAME_BYTES],
  BODY_BOM: ['A byte order mark before the body was signed but not sent', SAME_BYTES],
  BODY_WITHOUT_BOM: ['The body was sent with a byte order mark that was not signed', SAME_BYTES],
  BODY_AS_JAVASCRIPT: ['The body was serialized again, as JavaScript does', SAME_BYTES],
  BODY_AS_PYTHON: ['The body was serialized again, as Python does', SAME_BYTES],
  BODY_AS_PHP: ['The body was serialized again, as PHP does', SAME_BYTES],
  BODY_AS_GO: ['The body was serialized again, as Go does', SAME_BYTES],
  BODY_AS_JAVA: ['The body was serialized again, as Java does', SAME_BYTES],
  BODY_AS_DOTNET: ['The body was serialized again, as .NET does', SAME_BYTES],
  BODY_SORTED: ['The body was signed with its fields sorted by name', SAME_BYTES],
  BODY_PRETTY: ['The body was signed pretty-printed', SAME_BYTES],
  BODY_WITHOUT_NULLS: ['The body was signed without its null fields', SAME_BYTES],
  BODY_NOT_TEXT: ['The text form of an object was signed instead of the body', SAME_BYTES],
  BODY_CHARSET: ['The body was signed in another character set', `${SAME_BYTES} Use UTF-8.`],
  BODY_ENCODED: ['The body was encoded before it was signed', SAME_BYTES],
  BODY_HASHED: ['A hash of the body was signed', SAME_BYTES],
  SEPARATOR_MISSING: ['No separator was signed between client id, timestamp and body', THE_TEXT],
  SEPARATOR_LITERAL: [
    'A backslash and a letter were signed instead of a line feed',
    `${THE_TEXT} In PHP, use "\\n" in double quotes. In Bash, use $'\\n' or printf.`,
  ],
  SEPARATOR_CRLF: ['CR LF was signed instead of a line feed', THE_TEXT],
  SEPARATOR_OTHER: ['A separator other than a line feed was signed', THE_TEXT],
  SEPARATOR_EXTRA: ['One line break too many was signed', THE_TEXT],
  FIELDS_REORDERED: ['Client id, timestamp and body were signed in the wrong order', THE_TEXT],
  FIELD_MISSING: ['The client id, timestamp or body was not signed', THE_TEXT],
  FIELDS_NAMED: ['Field names were signed in addition to client id, timestamp and body', THE_TEXT],
  PATH_INCLUDED: ['The signed text contains the path', `${THE_TEXT} Do not sign the path.`],
  CLIENT_ID_OTHER: [
    'The signed client id is spelled differently from the sent client id',
    THE_TEXT,
  ],
  SECRET_IN_TEXT: [
    'The signed text contains the secret',
    `${THE_TEXT} Use the secret only as the key.`,
  ],
  TIMESTAMP_MILLISECONDS: ['The timestamp is in milliseconds', SECONDS],
  TIMESTAMP_UNIT: ['The timestamp is in microseconds or nanoseconds', SECONDS],
  TIMESTAMP_NOT_SECONDS: ['The timestamp is not a whole number of seconds', SECONDS],
  TIMESTAMP_TAKEN_TWICE: ['The signed timestamp differs from the sent timestamp', SECONDS],
  TIME_ZONE: [
    'The timestamp is off by a time zone: local time was used as UTC',
    'Use Unix time, which has no time zone.',
  ],
  CLOCK_OFF: [
    'The clock of the caller is wrong',
    'Synchronize the clock by NTP; a difference of 300 s is allowed.',
  ],
  SECRET_RETIRED: [
    'The secret that was used is no longer valid',
    'Use the secret that the last rotation printed; "matterctl client rotate" creates a new secret.',
  ],
  QUERY_KEY_ENDED: [
    'The query key that was used has expired or was revoked',
    'Let an operator create a new link: "matterctl client console".',
  ],
  SECRET_WHITE_SPACE: ['The secret was used with white space around it', `${THE_SECRET} Trim it.`],
  SECRET_QUOTED: ['The secret was used with quotes around it', THE_SECRET],
  SECRET_NAMED: [
    'The secret was used together with its name, as in a settings file',
    `${THE_SECRET} Read the value, not the line.`,
  ],
  SECRET_CASE: ['The upper or lower case of the secret was changed', THE_SECRET],
  SECRET_ENCODED: [
    'The secret was decoded or encoded before it was used',
    `${THE_SECRET} The key is the secret in UTF-8.`,
  ],
  SECRET_HASHED: ['A hash of the secret was used as the key', THE_SECRET],
  SECRET_CUT: ['The first or last character of the secret was missing', THE_SECRET],
  SECRET_IS_AN_ID: ['The client id, or the id of a secret, was used as the secret', THE_SECRET],
  SECRET_UNSET: [
    'The secret was empty or a word such as null or undefined',
    `${THE_SECRET} Check where the program reads the secret.`,
  ],
  SIGNATURE_BASE64: ['The signature was sent in base64', THE_HEX],
  SIGNATURE_RAW: ['The signature was sent as its bytes, not as hex digits', THE_HEX],
  SIGNATURE_PREFIXED: ['There is other text around the signature', THE_HEX],
  SIGNATURE_SEPARATED: ['There is other text between the hex digits of the signature', THE_HEX],
  SIGNATURE_UNPADDED: [
    'The hex digits of the signature were written without leading zeros',
    THE_HEX,
  ],
  SIGNATURE_CUT: ['The signature was cut off', THE_HEX],
  SIGNATURE_ENCODED_TWICE: ['The signature was encoded twice', THE_HEX],
  SIGNATURE_IS_SECRET: [
    'The secret itself was sent as the signature',
    'Rotate the secret, because it was sent over the network. Then sign with the new secret and never send it.',
  ],
  SIGNATURE_LENGTH: ['The signature does not have 64 characters', THE_HEX],
  HASH_OTHER: ['A hash other than SHA-256 was used', 'Use HMAC-SHA256.'],
  NOT_HMAC: ['A plain hash was made, not an HMAC', 'Use HMAC-SHA256 with the secret as its key.'],
  KEY_AND_TEXT_SWAPPED: [
    'The key and the text of the HMAC were swapped',
    'Look at the order of the arguments of the HMAC function.',
  ],
  SIGNATURE_RIGHT: [
    'The signature is correct for a secret that is valid now',
    'Send the request again: the client or the secret was not active yet when this request arrived.',
  ],
  BODY_NOT_KEPT: [
    'The body of this request was not stored, so most mistakes were not checked',
    'Wait a few minutes, send the request again, and query the diagnosis of the new request. Bodies over 16 KiB are not stored.',
  ],
  NO_SECRET: [
    'The service can read no secret of the client, so no mistake was checked',
    'Let an operator create a new secret: "matterctl client rotate".',
  ],
  UNEXPLAINED: [
    'The search found no known mistake that explains this signature',
    'Compute the SHA-256 of the body that you sign and compare it with bodyHash. Check the secret with "matterctl doctor".',
  ],
} as const satisfies Record<string, readonly [explanation: string, fix: string]>;

export const ASK_AGAIN = 'Ask again: the search ran out of time.';

export type Cause = keyof typeof CATALOGUE;

export const ALL_CAUSES = Object.keys(CATALOGUE) as readonly Cause[];

export interface CauseFinding extends Finding {
  readonly cause: Cause;
}

/** @param how a detail that is appended to the explanation */
export function toFinding(cause: Cause, how?: string, difference?: Difference): CauseFinding {
  const [explanation, fix] = CATALOGUE[cause];
  return {
    cause,
    explanation: how === undefined ? `${explanation}.` : `${explanation}: ${how}.`,
    fix,
    ...(difference && { difference }),
  };
}

/** Makes the finding of a search that ended before the search had tried all known mistakes. */
export function unexplainedSoFar(isOutOfTime: boolean): CauseFinding {
  const finding = toFinding('UNEXPLAINED', 'it did not try all known mistakes');
  return isOutOfTime ? { ...finding, fix: `${ASK_AGAIN} ${finding.fix}` } : finding;
}
