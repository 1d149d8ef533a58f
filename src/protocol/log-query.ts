/** The body of `push-logs/query`. */
import { z } from 'zod';
import { anyInstant, nullIsAbsent } from './fields';
import { absentMeans, atMostWhere, notBoth } from './json-schema';
import { LOG_STATES } from './log-states';
import { cursor, oneOrMoreWords, orderedWindow, pageSize } from './query-body';
import { TEXTS } from './texts';
import { saying } from './zod-texts';

/** Most entries of a page that brings the bodies along. */
const MAX_WITH_BODIES = 50;
const DEFAULT_PAGE = 50;

const REQUEST_ID = /^[0-9a-f]{24}$/i;
const word = nullIsAbsent(z.string().min(1).max(64));

/** @param timeZone zone in which local date-times are read (PORTAL_TIME_ZONE) */
export function logQuerySchema(timeZone: string) {
  const instant = nullIsAbsent(anyInstant(timeZone));
  const body = z
    .object({
      requestId: nullIsAbsent(
        z
          .string()
          .regex(REQUEST_ID, saying(TEXTS.requestId))
          .transform((id) => id.toLowerCase()),
      ),
      idempotencyKey: nullIsAbsent(z.string().min(1).max(255)),
      externalId: nullIsAbsent(z.string().min(1).max(128)),
      operation: word,
      outcome: oneOrMoreWords,
      reason: oneOrMoreWords,
      failed: nullIsAbsent(z.boolean()).meta(absentMeans(false)),
      stillFailed: nullIsAbsent(z.boolean()).meta(absentMeans(false)),
      state: nullIsAbsent(z.enum(LOG_STATES)),
      from: instant,
      to: instant,
      limit: pageSize(DEFAULT_PAGE),
      cursor,
      count: nullIsAbsent(z.boolean()).meta(absentMeans(false)),
      includeBody: nullIsAbsent(z.boolean()).meta(absentMeans(false)),
      oldestFirst: nullIsAbsent(z.boolean()).meta(absentMeans(false)),
    })
    .refine((query) => query.outcome === undefined || query.reason === undefined, {
      path: ['reason'],
      message: saying(TEXTS.notWithOutcome),
    })
    .refine((query) => !query.includeBody || query.limit <= MAX_WITH_BODIES, {
      path: ['limit'],
      message: saying(TEXTS.withBodies(MAX_WITH_BODIES)),
    })
    .meta({
      ...notBoth('outcome', 'reason'),
      ...atMostWhere('includeBody', 'limit', MAX_WITH_BODIES),
    });
  return orderedWindow(body, 'from', 'to');
}
