/** How commands fail: one clear line that tells what to do next, and the exit code. */
import { types } from 'node:util';
import { CommanderError, InvalidArgumentError } from 'commander';

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** A command could not be carried out; the message is for the operator. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';

  constructor(
    message: string,
    readonly exitCode: number = EXIT_FAILED,
  ) {
    super(message);
  }
}

export interface Explanation {
  readonly exitCode: number;
  /** Undefined: it was said already, or there is nothing to say. */
  readonly message?: string;
}

/** What to print for an error, and which code to exit with. Only a bug shows its stack. */
export function explain(error: unknown): Explanation {
  if (error instanceof CommanderError && !(error instanceof InvalidArgumentError)) {
    // Commander has printed it; --help and --version arrive here too, with 0.
    return { exitCode: error.exitCode === 0 ? 0 : EXIT_USAGE };
  }
  if (error instanceof CommandFailure) {
    return { exitCode: error.exitCode, message: oneLine(error.message) };
  }
  // By its nature, not its class: an error may come from another realm, as under jest.
  if (!types.isNativeError(error)) return { exitCode: EXIT_FAILED, message: String(error) };
  if (isExpected(error)) return { exitCode: EXIT_FAILED, message: oneLine(error.message) };
  if (codeOf(error) === 'EPIPE') return { exitCode: 0 };
  if (isOfDatabase(error)) {
    return { exitCode: EXIT_FAILED, message: `the database failed: ${oneLine(error.message)}` };
  }
  return { exitCode: EXIT_FAILED, message: `unexpected: ${error.stack ?? error.message}` };
}

/** By name: for their classes every command would load the settings' schema and the database's driver. */
const EXPECTED: readonly string[] = ['ConfigError', 'DirectoryError', 'DatabaseSetupError'];

/** The system's errors about files and addresses say what is wrong in their message. */
const isExpected = (error: Error) =>
  EXPECTED.includes(error.name) || ('syscall' in error && codeOf(error) !== 'EPIPE');

/** Whether the database's driver threw it; all its errors are named so, and mongoose's are no such. */
export const isOfDatabase = (error: unknown) =>
  types.isNativeError(error) && /^Mongo(?!ose)/.test(error.name);

const codeOf = (error: Error) => (error as NodeJS.ErrnoException).code;
/** A message may contain a text that a caller sent: a line break in it must not begin a line of its own. */
const oneLine = (message: string) => message.replace(/\s*\n\s*/g, ' ');
