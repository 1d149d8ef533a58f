import type { Caller } from '../auth/authenticate';
import type { Language } from '../protocol/language';

/** The answer of a signed query must contain only data of the system `systemCode`. */
export interface SignedQuery
  extends Pick<Caller, 'systemCode' | 'clientId' | 'secretId' | 'queryKey'> {
  readonly language: Language;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * @returns the field `data` of the answer
 * @throws PushError VALIDATION_FAILED with the invalid fields of the body
 */
export type AnswerQuery<Data = unknown> = (query: SignedQuery) => Promise<Data>;
