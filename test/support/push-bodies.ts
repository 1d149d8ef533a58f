/** Bodies and lines of pushes, as callers send them: what a test is about is laid over them. */

export type Body = Readonly<Record<string, unknown>>;

export const todo = <T extends object = object>(externalId: string, over?: T) => ({
  ...{ matterType: 'TODO' as const, externalId, title: 'x' },
  ...over,
});

export const notice = <T extends object = object>(externalId: string | undefined, over?: T) => ({
  ...{ matterType: 'NOTICE' as const, externalId, title: 'x' },
  ...over,
});

/** A line of a batch or of a file of pushes, without its line feed. */
export const pushLine = (op: string, body: object, more: object = {}) =>
  JSON.stringify({ op, body, ...more });
