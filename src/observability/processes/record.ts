/** What a process tells of itself every few seconds, for `matterctl status`. */
import { z } from 'zod';

const outage = z.object({
  /** Epoch milliseconds, by the process' own clock. */
  since: z.number(),
  /** Null while it lasts. */
  until: z.number().nullable(),
  error: z.string(),
});
const flowResult = z.object({
  result: z.string(),
  count: z.number(),
  times: z.record(z.string(), z.number()).readonly(),
});
const flowClient = z.object({
  clientId: z.string(),
  pushes: z.number(),
  failed: z.number(),
  rejected: z.number(),
  lastReason: z.string().nullable(),
  /** Absent in the record of an earlier version. */
  lastReasonMs: z.number().nullable().default(null),
});
const flow = z.object({
  spanMs: z.number(),
  results: z.array(flowResult).readonly(),
  clients: z.array(flowClient).readonly(),
});

export const processRecord = z.object({
  /** As in its log lines. */
  name: z.string(),
  type: z.enum(['web', 'worker']),
  host: z.string(),
  pid: z.number(),
  /** Of the product. */
  version: z.string(),
  uptimeMs: z.number(),
  state: z.enum(['ready', 'draining']),
  /** What it has under way: numbers by what they count. */
  work: z.record(z.string(), z.number()),
  /** The last one of each server that it has met. */
  outages: z.object({ mongodb: outage.optional(), redis: outage.optional() }),
  /** Of a web: the rate of a client that has none of its own, pushes a second; 0: no limit. */
  defaultRate: z.number().optional(),
  /** Of a web. */
  flow: flow.optional(),
});
export type ProcessRecord = z.infer<typeof processRecord>;
