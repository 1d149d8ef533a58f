/** The options that determine where a command reads: from the database, or from the service as a client. */
import type { Command } from 'commander';
import { readSecretFile } from '../client-secret';
import { usageFailure } from '../failure';
import { withDatabase, withServiceUrl } from '../option-values';
import type { Tool } from '../tool';
import type { DatabaseOptions } from '../with-mongo';

/** The client that signs queries to the service. */
export interface Signer {
  /** URL of the service. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
}

export interface SourceOptions extends DatabaseOptions {
  /** If a client signs, it must be the system of this client. */
  readonly systemCode?: string | undefined;
  readonly url?: string;
  /** With `secretFile`, the client that signs; otherwise a filter of the log commands. */
  readonly clientId?: string;
  readonly secretFile?: string;
}

/** Adds these options to a command that reads. */
export function withSource(command: Command): Command {
  withServiceUrl(
    withDatabase(command).option(
      '--secret-file <file>',
      'ask the service, not the database: a file with the secret of --client-id, which signs',
    ),
  );
  // The log commands already have --client-id as a filter. Without --secret-file it remains a filter.
  if (command.options.some(({ long }) => long === '--client-id')) return command;
  return command
    .option('--client-id <id>', 'who signs, with --secret-file')
    .hook('preAction', (run) => {
      const { clientId, secretFile } = run.opts<SourceOptions>();
      if (clientId !== undefined && secretFile === undefined)
        throw usageFailure('--client-id needs --secret-file');
    });
}

/**
 * @returns the client that signs; undefined if the command reads from the database
 * @throws CommandFailure with exit code 2 if options exclude each other or one is missing
 */
export async function signerOf(options: SourceOptions, tool: Tool): Promise<Signer | undefined> {
  const { url, clientId, secretFile, mongoUrl, mongoUrlFile } = options;
  if (url === undefined && secretFile === undefined) return undefined;
  if (mongoUrl !== undefined || mongoUrlFile !== undefined) {
    throw usageFailure(
      'choose one: --mongo-url or --mongo-url-file read the database, --secret-file asks the service',
    );
  }
  if (secretFile === undefined)
    throw usageFailure('--url needs --client-id and --secret-file: who signs');
  if (clientId === undefined)
    throw usageFailure('--secret-file needs --client-id: whose secret it is');
  const secret = await readSecretFile(secretFile);
  return { url: url ?? tool.settings.serviceUrl(), clientId, secret };
}
