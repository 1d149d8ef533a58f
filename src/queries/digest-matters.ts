/**
 * The query `matters/digest` counts and hashes the matters of a system in buckets (`BucketDigest`). Deleted matters
 * are left out.
 */

import { PushError, problem } from '../protocol/errors';
import type { LocalDay } from '../protocol/local-day';
import type { MatterDigest } from '../protocol/matter-answers';
import { TEXTS } from '../protocol/texts';
import type { MatterReader } from '../storage/ledger';
import { createBulkhead } from './bulkhead';
import { createDayCalendar } from './day-calendar';
import { createBucketDigest } from './digest';

/** Maximum concurrent digests, per system and in total. */
const MAX_CONCURRENT = { perKey: 1, total: 3 };
const MAX_BUCKETS = 100_000;

export interface DigestQuery {
  readonly bizType?: string | undefined;
  /** Only matters whose `sourceUpdatedAt` is on this day or later. */
  readonly fromDay?: LocalDay | undefined;
  /** Only matters whose `sourceUpdatedAt` is on this day or earlier. */
  readonly toDay?: LocalDay | undefined;
  /** True leaves out concluded matters. */
  readonly open?: boolean | undefined;
}

/** The query throws PushError TOO_MANY_QUERIES above MAX_CONCURRENT, and VALIDATION_FAILED above MAX_BUCKETS. */
export function createDigestMatters(reader: Pick<MatterReader, 'forDigest'>, timeZone: string) {
  const bulkhead = createBulkhead(MAX_CONCURRENT);
  return async (systemCode: string, query: DigestQuery): Promise<MatterDigest> => {
    const release = bulkhead.acquire(systemCode);
    try {
      const digest = createBucketDigest(createDayCalendar(timeZone));
      for await (const matter of reader.forDigest(systemCode, windowOf(query))) {
        if (query.bizType !== undefined && matter.bizType !== query.bizType) continue;
        if (query.open && matter.phase === 'CONCLUDED') continue;
        digest.add(matter);
        if (digest.size() > MAX_BUCKETS) throw tooMany();
      }
      return { timeZone, total: digest.total(), buckets: digest.buckets() };
    } finally {
      release();
    }
  };
}

function windowOf({ fromDay, toDay }: DigestQuery) {
  return fromDay || toDay ? { from: fromDay?.start, to: toDay?.end } : undefined;
}

function tooMany(): PushError {
  return new PushError('VALIDATION_FAILED', {
    errors: [problem('(body)', TEXTS.tooManyGroups(MAX_BUCKETS))],
  });
}
