import type { Caller } from '../auth/authenticate';
import type { Language } from '../protocol/language';

/** A signed query of an authenticated client. The answer contains only data of the client's system. */
export interface SignedQuery
  extends Pick<Caller, 'systemCode' | 'clientId' | 'secretId' | 'queryKey'> {
  /** The language of the answer. */
  readonly language: Language;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Answers a signed query.
 *
 * @returns `data` of the answer.
 * @throws PushError VALIDATION_FAILED with the invalid fields
 */
export type AnswerQuery<Data = unknown> = (query: SignedQuery) => Promise<Data>;
