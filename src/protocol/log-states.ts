/** Where a push of the log stands. Apart from its fields: the options of `matterctl` name them without a schema. */

/** `QUEUED` until it is settled; every other state is final. */
export const LOG_STATES = ['QUEUED', 'PERSISTED', 'REPLAYED', 'REFUSED', 'EXPIRED'] as const;
export type LogState = (typeof LOG_STATES)[number];
