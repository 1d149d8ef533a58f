/** `matters/orphans`: a list of ids goes, lines come; the last one says whether that was all. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ORPHANS, queryPath } from '../../../src/protocol/paths';
import type { OrphanView } from '../../../src/queries/orphans';
import { backoff } from '../../client/backoff';
import { MatterPushError } from '../../client/error';
import { createSender } from '../../client/sender';
import { judge } from '../../client/verdict';

export interface Signer {
  /** Of the service. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
}

/** Milliseconds for the whole of it: a million ids go up, and as many lines may come down. */
const TIMEOUT = 600_000;
/** One of a client is answered at a time, so another one may have to end first. */
const TRIES = 6;

/**
 * @param ids at most 1,000,000 (the service rejects more)
 * @returns what is open and not among the ids, by external id; all of it, or nothing
 * @throws MatterPushError
 */
export async function askOrphans(ids: Iterable<string>, signer: Signer): Promise<OrphanView[]> {
  const body = Buffer.from(Array.from(ids, (id) => `${JSON.stringify(id)}\n`).join(''));
  const sender = createSender({ ...signer, concurrency: 1, timeout: TIMEOUT });
  const request = { path: queryPath(ORPHANS), body, idempotencyKey: undefined };
  try {
    for (let tries = 1; ; tries += 1) {
      const answer = await sender.send(request);
      const lines = answer.text.trimEnd().split('\n');
      const verdict = judge({ ...answer, text: lines.pop() ?? '' });
      if (verdict.kind === 'answered') return lines.map((line) => JSON.parse(line));
      if (!verdict.retryable || tries === TRIES) {
        throw new MatterPushError(verdict, { tries, idempotencyKey: undefined });
      }
      await sleep(backoff(tries, verdict.retryAfter));
    }
  } finally {
    sender.close();
  }
}
