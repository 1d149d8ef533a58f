/**
 * The states of a logged push. A push is `QUEUED` until it is settled; every other state is final. This file does not
 * load zod, so that `matterctl` starts fast.
 */
export const LOG_STATES = ['QUEUED', 'PERSISTED', 'REPLAYED', 'REFUSED', 'EXPIRED'] as const;
export type LogState = (typeof LOG_STATES)[number];
