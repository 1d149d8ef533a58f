/** A file to reconcile, whatever its form: checked, and ready to be compared. */
import type { Statement } from './statement';

export interface Source {
  /** How many statements there are. */
  readonly size: number;
  /** Whether the file names a matter, be it without a statement. */
  names(externalId: string): boolean;
  /** Each externalId once. */
  statements(): AsyncIterable<Statement>;
  /** Names of columns or fields that nobody knows. */
  readonly unknownFields: readonly string[];
  /** Matters of which a file of pushes holds no upsert: nothing is known of them. */
  readonly withoutUpsert: number;
  /** Pushes whose externalId the service made. */
  readonly withoutId: number;
}
