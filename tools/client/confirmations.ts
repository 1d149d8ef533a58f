/**
 * Checks `data` of a success by endpoint. An answer that fails the check is not from the service, whatever its code
 * is.
 */
import type { QueryName } from './answers';
import { isFilled } from './guards';
import type { Confirms } from './verdict';

/** The answer to a persisted push contains the id of the matter and the outcome of the push. */
export const confirmsPush: Confirms = (data) => {
  const { matterId, outcome }: { matterId?: unknown; outcome?: unknown } = data;
  return isFilled(matterId) && isFilled(outcome);
};

export const confirmsVerified: Confirms = (data) => 'valid' in data && data.valid === true;

export const confirmsOrphans: Confirms = (data) => 'orphans' in data;

/** A field that `data` always has. A query without an entry accepts every object as `data`. */
const FIELD_OF: Readonly<Partial<Record<QueryName, string>>> = {
  'push-logs/query': 'entries',
  'push-logs/failures': 'rows',
  'push-logs/stats': 'rows',
  'matters/get': 'matters',
  'matters/query': 'matters',
  'matters/diff': 'differences',
  'matters/digest': 'buckets',
  'users/check': 'users',
  'clients/me': 'clientId',
};

export const confirmsQuery =
  (name: QueryName): Confirms =>
  (data) => {
    const field = FIELD_OF[name];
    return field === undefined || field in data;
  };
