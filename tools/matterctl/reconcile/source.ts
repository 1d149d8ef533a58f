/** A file to reconcile, whatever its form: checked, and ready to be compared. */
import type { MatterList } from '../source/matter-source';
import type { ExpectedMatter } from './expected-matter';

/** Its list has the matters of bad lines too, as far as those can be read. */
export interface Source extends MatterList {
  /** How many expected matters there are. */
  readonly size: number;
  /** Each externalId once. */
  expectedMatters(): AsyncIterable<ExpectedMatter>;
  /** Names of columns or fields that nobody knows. */
  readonly unknownFields: readonly string[];
  /** Matters of which a file of pushes holds no upsert: nothing is known of them. */
  readonly withoutUpsert: number;
  /** Pushes whose externalId the service made. */
  readonly withoutId: number;
  /** Bad lines: they were named, and are not compared. */
  readonly leftOut: number;
  /** Those of them that name no matter: nobody knows what they are about. */
  readonly leftOutUnnamed: number;
}
