/** How commands fail: with one line for the operator, which states what to do next, and with an exit code. */
import { types } from 'node:util';
import { CommanderError, InvalidArgumentError } from 'commander';

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** The command failed. The message is for the operator. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';

  constructor(
    message: string,
    readonly exitCode: number = EXIT_FAILED,
  ) {
    super(message);
  }
}

/** The failure of a command whose options or input it cannot use (exit code 2). The message is for the operator. */
export const usageFailure = (message: string) => new CommandFailure(message, EXIT_USAGE);

export interface Explanation {
  readonly exitCode: number;
  /** Undefined if there is nothing to print, for example because Commander has printed it. */
  readonly message?: string;
}

/** The message and the exit code for an error. The message of an unexpected error contains the stack. */
export function explain(error: unknown): Explanation {
  if (error instanceof CommanderError && !(error instanceof InvalidArgumentError)) {
    // Commander has printed the message. After --help and --version, it throws an error with exit code 0.
    return { exitCode: error.exitCode === 0 ? 0 : EXIT_USAGE };
  }
  if (error instanceof CommandFailure) {
    return { exitCode: error.exitCode, message: oneLine(error.message) };
  }
  // Not `instanceof Error`, because under jest an error may come from another realm.
  if (!types.isNativeError(error)) return { exitCode: EXIT_FAILED, message: String(error) };
  if (isExpected(error)) return { exitCode: EXIT_FAILED, message: oneLine(error.message) };
  if (codeOf(error) === 'EPIPE') return { exitCode: 0 };
  if (isOfDatabase(error)) {
    return { exitCode: EXIT_FAILED, message: `the database failed: ${oneLine(error.message)}` };
  }
  return { exitCode: EXIT_FAILED, message: `unexpected: ${error.stack ?? error.message}` };
}

/** Names instead of classes: to import the classes, every command would load the settings and the database driver. */
const EXPECTED: readonly string[] = ['ConfigError', 'DirectoryError', 'DatabaseSetupError'];

/**
 * Whether the message alone states the cause. It does for these errors, and for system errors of files and addresses.
 */
const isExpected = (error: Error) =>
  EXPECTED.includes(error.name) || ('syscall' in error && codeOf(error) !== 'EPIPE');

/**
 * Whether the MongoDB driver threw the error. The names of its errors begin with Mongo, those of Mongoose with
 * Mongoose.
 */
export const isOfDatabase = (error: unknown) =>
  types.isNativeError(error) && /^Mongo(?!ose)/.test(error.name);

const codeOf = (error: Error) => (error as NodeJS.ErrnoException).code;
/**
 * Replaces line breaks, because a message may contain a text of a caller, which must not look like a line of its own.
 */
const oneLine = (message: string) => message.replace(/\s*\n\s*/g, ' ');
