/**
 * The states of a logged push; every state except QUEUED is final. This file must not import zod, because `matterctl`
 * imports this file and must start fast.
 */
export const LOG_STATES = ['QUEUED', 'PERSISTED', 'REPLAYED', 'REFUSED', 'EXPIRED'] as const;
export type LogState = (typeof LOG_STATES)[number];
