/** The one source of time: epoch milliseconds. Passed in wherever time matters. */
export type Clock = () => number;

export const systemClock: Clock = Date.now;
