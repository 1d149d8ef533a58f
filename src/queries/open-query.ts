import type { Caller } from '../auth/authenticate';
import type { Language } from '../protocol/language';

/** A query of an authenticated caller, who sees only what belongs to its system. */
export interface OpenQuery
  extends Pick<Caller, 'systemCode' | 'clientId' | 'secretId' | 'queryKey'> {
  /** What its caller reads. */
  readonly language: Language;
  readonly body: Readonly<Record<string, unknown>>;
}

/** @returns what becomes `data`. @throws PushError VALIDATION_FAILED naming what is wrong */
export type AnswerQuery = (query: OpenQuery) => Promise<unknown>;
