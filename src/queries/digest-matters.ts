/** `matters/digest`: counts and hashes of what the ledger has, by bizType and day. */
import type { MatterDigest } from '../protocol/comparison';
import { PushError, problem } from '../protocol/errors';
import { TEXTS } from '../protocol/texts';
import type { LocalDay } from '../protocol/time';
import type { MatterReader } from '../storage/ledger/matter-reader';
import { createBulkhead } from './bulkhead';
import { createDayCalendar } from './day-calendar';
import { createBucketDigest } from './digest';

/** A digest reads everything that a system has. */
const AT_A_TIME = { perKey: 1, total: 3 };
const MAX_BUCKETS = 100_000;

export interface DigestQuery {
  readonly bizType?: string | undefined;
  /** First and last local day of `sourceUpdatedAt`. */
  readonly fromDay?: LocalDay | undefined;
  readonly toDay?: LocalDay | undefined;
  /** Leaves concluded matters out. */
  readonly open?: boolean | undefined;
}

/**
 * @throws (what is built) PushError TOO_MANY_QUERIES while another digest of the system is under way, or
 *   VALIDATION_FAILED where there would be too many buckets
 */
export function createDigestMatters(reader: Pick<MatterReader, 'digested'>, timeZone: string) {
  const bulkhead = createBulkhead(AT_A_TIME);
  return async (systemCode: string, query: DigestQuery): Promise<MatterDigest> => {
    const release = bulkhead.acquire(systemCode);
    try {
      const digest = createBucketDigest(createDayCalendar(timeZone));
      for await (const matter of reader.digested(systemCode, windowOf(query))) {
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
