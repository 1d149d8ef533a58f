/** What the queries about matters answer with. */
import { z } from 'zod';
import { count, instant, matterId, oneOf, type ShapeOf } from '../../protocol/answer-shape';
import type {
  ChangesPage,
  Digest,
  DigestBucket,
  GotMatters,
  HeldView,
  MatterDiff,
  MatterDifference,
  MatterDigest,
} from '../../protocol/comparison';
import type { matterSchemas } from './matter';

const difference = () =>
  oneOf<MatterDifference>({
    MISSING: true,
    DELETED: true,
    NOT_DELETED: true,
    STALE_HERE: true,
    NEWER_HERE: true,
    STATUS_DIFFERS: true,
  });
const digestOf = () =>
  ({ count: count(), hash: z.string().regex(/^[0-9a-f]{16}$/) }) satisfies ShapeOf<Digest>;

export function comparisonSchemas({ Matter }: ReturnType<typeof matterSchemas>) {
  const got = z.object({
    matters: z.array(Matter),
    missing: z.array(z.string()),
  } satisfies ShapeOf<GotMatters>);
  const changes = z.object({
    matters: z.array(Matter),
    nextCursor: z.string().nullable(),
    watermark: instant(),
  } satisfies ShapeOf<ChangesPage>);
  const held = z.object({
    matterId: matterId(),
    bizStatus: z.string(),
    externalStatusCode: z.string().nullable(),
    sourceUpdatedAt: instant().nullable(),
    deleted: z.boolean(),
  } satisfies ShapeOf<HeldView>);
  const differing = z.object({
    externalId: z.string(),
    differences: z.array(difference()),
    here: held.nullable(),
  } satisfies ShapeOf<MatterDiff['differences'][number]>);
  const diff = z.object({
    compared: count(),
    equal: count(),
    differences: z.array(differing),
  } satisfies ShapeOf<MatterDiff>);
  const bucket = z.object({
    bizType: z.string().nullable(),
    day: z.string().meta({ format: 'date' }).nullable(),
    ...digestOf(),
  } satisfies ShapeOf<DigestBucket>);
  const digest = z.object({
    timeZone: z.string(),
    total: z.object(digestOf()),
    buckets: z.array(bucket),
  } satisfies ShapeOf<MatterDigest>);
  return {
    GotMatters: got,
    ChangesPage: changes,
    HeldMatter: held,
    MatterDifference: differing,
    MatterDiff: diff,
    DigestBucket: bucket,
    MatterDigest: digest,
  };
}
