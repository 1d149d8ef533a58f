/** Posts a report to an address: that of a robot in a group chat, or any other that takes HTTP. */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../client/backoff';
import { AnswerTooLarge, exchange, type HttpAnswer } from '../../client/exchange';
import { noAnswer, parseJson, toMilliseconds } from '../../client/verdict';
import { CommandFailure } from '../failure';
import { maskKeysOf } from '../mask';
import { isRobot, type ReportFormat, type RobotFormat } from './formats';
import { type RobotPost, signerFor } from './sign-post';

export interface Delivery {
  readonly url: string;
  readonly format: ReportFormat;
  readonly text: string;
  /** The signing secret of the robot. */
  readonly secret?: string | undefined;
}

/** Milliseconds for all tries with their waits, and for one try. */
export const POST_TIMEOUT = 60_000;
const TRY_TIMEOUT = 10_000;
/**
 * A try with less time left could not succeed. A timer may fire early, so a timeout can leave a part of a
 * millisecond.
 */
const MIN_TRY = 1_000;
const MAX_TRIES = 5;
const MAX_ANSWER = 1024 * 1024;
/** Characters of an answer that are masked, and of a cause. A key that is cut off would not be masked. */
const MAX_QUOTE = 10_000;
const MAX_CAUSE = 250;

/** Codes with which a robot answers that it is busy or gets too many messages. */
const BUSY: Readonly<Record<RobotFormat, readonly number[]>> = {
  wecom: [-1, 45009],
  dingtalk: [-1, 130101],
  feishu: [11232],
};

/** The cause of a failed try. */
interface PostProblem {
  readonly cause: string;
  readonly retryable: boolean;
  /** Milliseconds that the answer asks to wait. */
  readonly retryAfter?: number | undefined;
}

/**
 * Posts a report, and retries while a retry may help. If an answer is lost, the receiver may get the report twice.
 *
 * @param timeout milliseconds for all tries with their waits
 * @throws CommandFailure if the report was not accepted. The message names the host only, and repeats no part of the
 *   address that may be a key
 */
export async function postReport(delivery: Delivery, timeout = POST_TIMEOUT): Promise<void> {
  const deadline = performance.now() + timeout;
  for (let tries = 1; ; tries += 1) {
    const left = deadline - performance.now();
    const problem = await tryToPost(delivery, Math.min(left, TRY_TIMEOUT));
    if (!problem) return;
    const wait = backoff(tries, problem.retryAfter);
    const isLast = tries === MAX_TRIES || performance.now() + wait + MIN_TRY > deadline;
    if (isLast || !problem.retryable) throw notPosted(delivery, problem, tries);
    await sleep(wait);
  }
}

function notPosted({ url }: Delivery, { cause }: PostProblem, tries: number): CommandFailure {
  const times = tries === 1 ? '1 try' : `${tries} tries`;
  return new CommandFailure(
    `the report was not posted to ${new URL(url).origin} (${times}): ${cause}`,
  );
}

async function tryToPost(delivery: Delivery, timeout: number): Promise<PostProblem | undefined> {
  const { format } = delivery;
  const { url, text } = signed(delivery);
  const problem = await send({ url, text }, format, timeout);
  return problem && { ...problem, cause: maskKeysOf(url, problem.cause).slice(0, MAX_CAUSE) };
}

const signed = ({ format, secret, ...post }: Delivery): RobotPost =>
  secret === undefined ? post : (signerFor(format)?.(post, secret, Date.now()) ?? post);

async function send(
  { url, text }: RobotPost,
  format: ReportFormat,
  timeout: number,
): Promise<PostProblem | undefined> {
  const type = format === 'text' ? 'text/plain' : 'application/json';
  const request = {
    ...{ method: 'POST' as const, url, timeout, maxAnswer: MAX_ANSWER },
    headers: { 'Content-Type': `${type}; charset=utf-8` },
    body: Buffer.from(text),
  };
  try {
    return problemIn(await exchange(request), format);
  } catch (error) {
    if (error instanceof AnswerTooLarge)
      return { cause: 'the answer is too long', retryable: false };
    const { message: cause, retryable } = noAnswer(error as NodeJS.ErrnoException);
    return { cause, retryable };
  }
}

function problemIn(answer: HttpAnswer, format: ReportFormat): PostProblem | undefined {
  const { status, text, location } = answer;
  if (status < 200 || status >= 300) {
    const detail = location === undefined ? quoted(text) : `redirect to ${hostOf(location)}`;
    return {
      cause: `status ${status}${detail && `, ${detail}`}`,
      retryable: status === 408 || status === 429 || status >= 500,
      retryAfter: toMilliseconds(answer.retryAfter),
    };
  }
  return isRobot(format) ? problemOfRobot(text, format) : undefined;
}

/** A robot answers with status 200 to a rejected message too. Its code is 0 if it has accepted the message. */
function problemOfRobot(text: string, format: RobotFormat): PostProblem | undefined {
  const parsed = parseJson(text);
  const answer = typeof parsed === 'object' && parsed !== null ? parsed : {};
  const { errcode, errmsg, code, StatusCode, msg } = answer as Readonly<Record<string, unknown>>;
  const result = errcode ?? code ?? StatusCode;
  if (result === 0) return undefined;
  if (typeof result !== 'number') {
    return { cause: `this is no answer of ${format}: ${quoted(text)}`, retryable: false };
  }
  const cause = `${format} answers ${result} ${quoted(String(errmsg ?? msg ?? ''))}`;
  return { cause, retryable: BUSY[format].includes(result) };
}

const quoted = (text: string) => text.slice(0, MAX_QUOTE).trim();

/** A redirect may repeat the key of a robot in its path. */
const hostOf = (location: string) =>
  URL.canParse(location) ? new URL(location).origin : 'another path';
