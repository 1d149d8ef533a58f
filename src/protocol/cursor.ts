/** Cursors of paged queries. `decodeCursor` rejects the cursor of a different query. */
import { createHash } from 'node:crypto';
import { PushError, problem } from './errors';
import type { Text } from './language';
import { TEXTS } from './texts';

const DIGEST_LENGTH = 16;

/**
 * @param query the filters and the order of the query
 * @param position the position after which the next page starts
 */
export function encodeCursor(query: unknown, position: string): string {
  return Buffer.from(digestOf(query) + position).toString('base64url');
}

/**
 * @param form the pattern of a valid position, with `^` and `$`
 * @throws PushError VALIDATION_FAILED for the field `cursor`
 */
export function decodeCursor(cursor: string, query: unknown, form: RegExp): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const position = text.slice(DIGEST_LENGTH);
  if (!form.test(position) || encodeCursor('', position).length !== cursor.length) {
    throw badCursor(TEXTS.cursor);
  }
  if (text.slice(0, DIGEST_LENGTH) !== digestOf(query)) {
    throw badCursor(TEXTS.otherCursor);
  }
  return position;
}

function badCursor(text: Text): PushError {
  return new PushError('VALIDATION_FAILED', { errors: [problem('cursor', text)] });
}

function digestOf(query: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(query)).digest('base64url');
  return digest.slice(0, DIGEST_LENGTH);
}
