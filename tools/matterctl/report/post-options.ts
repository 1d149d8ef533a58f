/** The options that name the receiver of a report. */
import type { Command } from 'commander';
import { readSecretFile } from '../client-secret';
import { usageFailure } from '../failure';
import { readLineFileSync } from '../text-file';
import type { ReportFormat } from './formats';
import { signerFor } from './sign-post';

export interface PostOptions {
  readonly post?: string;
  readonly postUrlFile?: string;
  readonly postSecretFile?: string;
}

/** Where a report is posted. */
export interface PostTarget {
  readonly url: string;
  /** The signing secret of the robot. */
  readonly secret: string | undefined;
}

/** Adds these options to a command. */
export const withPost = (command: Command): Command =>
  command
    .option('--post <url>', 'post the report there')
    .option('--post-url-file <file>', 'a file that holds this address', readLineFileSync)
    .option('--post-secret-file <file>', 'a file that holds the signing secret of the robot');

/**
 * @returns undefined if nothing is posted
 * @throws CommandFailure with exit code 2 if options exclude each other, one is missing, or the address is none
 */
export async function postTargetOf(
  options: PostOptions,
  format: ReportFormat,
): Promise<PostTarget | undefined> {
  const { postSecretFile } = options;
  const url = postUrlOf(options);
  if (postSecretFile === undefined)
    return url === undefined ? undefined : { url, secret: undefined };
  if (url === undefined) throw usageFailure('--post-secret-file needs --post or --post-url-file');
  if (!signerFor(format)) {
    throw usageFailure('--post-secret-file is for --format dingtalk or feishu');
  }
  return { url, secret: await readSecretFile(postSecretFile) };
}

/** Checks the address here and not in a parser, because Commander would print it, and it may contain a key. */
function postUrlOf({ post, postUrlFile }: PostOptions): string | undefined {
  if (post !== undefined && postUrlFile !== undefined) {
    throw usageFailure('give --post or --post-url-file, not both');
  }
  const url = post ?? postUrlFile;
  if (url === undefined || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    return url;
  const option = post === undefined ? 'the file of --post-url-file' : '--post';
  throw usageFailure(`${option} must hold an address like https://example.com/path`);
}
