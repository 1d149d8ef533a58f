/** Asks whether the service works, where a line alone cannot tell. */
import { READY_PATH } from '../../../src/protocol/paths';

/** `down`: no answer, or one that says so; `other`: an answer that is not one of Matter Push. */
export type ServiceState = 'ready' | 'down' | 'other';

const TIMEOUT = 3_000;

export async function askService(url: string): Promise<ServiceState> {
  try {
    const response = await fetch(url + READY_PATH, { signal: AbortSignal.timeout(TIMEOUT) });
    const text = await response.text();
    if (response.status >= 500) return 'down';
    const answer: unknown = JSON.parse(text);
    const isOurs = typeof answer === 'object' && answer !== null && 'code' in answer;
    if (!isOurs) return 'other';
    return answer.code === 0 ? 'ready' : 'down';
  } catch (error) {
    // A page of a gateway that does not let this path through.
    return error instanceof SyntaxError ? 'other' : 'down';
  }
}
