/**
 * Groups and partitions. A group is everything about one matter key; a partition is the Redis list that
 * carries the pushes of the groups which hash to it. One function maps the one to the other.
 */
import { crc32 } from 'node:zlib';

/**
 * Bounds how many workers can be at work at once; the fewer they are, the more pushes share a batch.
 * Part of the queue's format: all processes of a deployment must agree on it (see queue/keys.ts).
 */
export const PARTITIONS = 4;

/** The ordering key of (systemCode, externalId); neither part may hold a line feed. */
export function groupOf(systemCode: string, externalId: string): string {
  return `${systemCode}\n${externalId}`;
}

/** The partition, 0 to PARTITIONS - 1, that carries a group. */
export function partitionOf(group: string): number {
  return crc32(group) % PARTITIONS;
}
