/** A time or a length of the history as people read it: whole milliseconds. */
export const shownTime = (ms: number): string => `${Math.round(ms)} ms`;
