/** Workers do not look whether the same push, by key and body, took effect before. */
import * as lookups from '../../../src/storage/push-log/lookups';
import { replace } from './replace';

replace(lookups, 'createLogLookups', (original) => (connection) => ({
  ...original(connection),
  priorResults: async () => new Map(),
}));
