/**
 * Cursors: where the next page of a query begins. Opaque to callers; bound to the query that made
 * them, so that one cannot be used with other filters by mistake.
 */
import { createHash } from 'node:crypto';
import { PushError } from '../errors';

const DIGEST_LENGTH = 16;

/**
 * @param query everything that chooses the rows: filters and order, without page size
 * @param position where the next page begins, as short text
 */
export function encodeCursor(query: unknown, position: string): string {
  return Buffer.from(digestOf(query) + position).toString('base64url');
}

/**
 * @param form the whole position must match it
 * @returns the position
 * @throws PushError VALIDATION_FAILED naming `cursor`
 */
export function decodeCursor(cursor: string, query: unknown, form: RegExp): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const position = text.slice(DIGEST_LENGTH);
  if (!form.test(position) || encodeCursor('', position).length !== cursor.length) {
    throw badCursor('不是有效的游标，请使用上一页返回的 nextCursor');
  }
  if (text.slice(0, DIGEST_LENGTH) !== digestOf(query)) {
    throw badCursor('游标属于另一个查询，请保持查询条件不变');
  }
  return position;
}

function badCursor(message: string): PushError {
  return new PushError('VALIDATION_FAILED', { errors: [{ field: 'cursor', message }] });
}

function digestOf(query: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(query)).digest('base64url');
  return digest.slice(0, DIGEST_LENGTH);
}
