/** Groups: a group is everything about one matter key. Which partition carries it: src/queue/partitioning.ts. */

/** The ordering key of (systemCode, externalId); neither part may hold a line feed. */
export function groupOf(systemCode: string, externalId: string): string {
  return `${systemCode}\n${externalId}`;
}
