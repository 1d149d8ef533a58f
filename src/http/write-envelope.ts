/** Writes an answer's headers and its envelope: for successes and errors alike. */
import type { Context } from 'koa';
import type { Envelope } from '../protocol/envelope';
import { API_HEADERS } from '../protocol/headers';
import type { Language } from '../protocol/language';
import type { RequestState } from './request-state';

const CONTENT_LANGUAGES: Readonly<Record<Language, string>> = { zh: 'zh-CN', en: 'en' };

/**
 * Whether an answer on this path has status 200 whatever its code is (HTTP_STATUS_MODE).
 */
export type Always200 = (path: string) => boolean;

export function writeEnvelope(ctx: Context, envelope: Envelope, always200: Always200): void {
  closeIfUnread(ctx);
  tellLanguage(ctx);
  ctx.set(API_HEADERS);
  ctx.status = envelope.code === 0 || always200(ctx.path) ? 200 : envelope.code;
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = JSON.stringify(envelope);
}

/** A cache must not give one caller's language to another. */
export function tellLanguage(ctx: Context): void {
  const { language }: RequestState = ctx.state;
  ctx.set('Content-Language', CONTENT_LANGUAGES[language]);
  ctx.vary('Accept-Language');
}

/** The unread rest of a body must not be taken for the next request. */
export function closeIfUnread(ctx: Context): void {
  if (!ctx.req.complete) ctx.set('Connection', 'close');
}
