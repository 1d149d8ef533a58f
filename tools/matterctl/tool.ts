/** What a command is given by the program around it: where it reads, writes and finds servers. */
import type { Readable, Writable } from 'node:stream';
import type { Settings } from './settings';

export interface Tool {
  readonly settings: Settings;
  readonly stdin: Readable;
  /** Results only, so that they can be piped on. */
  readonly stdout: Writable;
  /** Hints, progress and errors. */
  readonly stderr: Writable & { readonly isTTY?: boolean };
}
