/** Reads X-Strict-Fields: whether fields that are not read are rejected (decisions, "Operations"). */

import { headerValues } from '../auth/auth-headers';
import { type Problem, problem } from '../protocol/errors';
import { TEXTS } from '../protocol/texts';

export interface SentStrictFields {
  readonly strictFields: boolean;
  /** What is wrong with the header; named together with what is wrong with the body. */
  readonly headerErrors: readonly Problem[];
}

export function readStrictFields(rawHeaders: readonly string[]): SentStrictFields {
  const values = headerValues(rawHeaders, 'x-strict-fields').map((value) => value.toLowerCase());
  const [value = 'false'] = values;
  const isWord = values.length <= 1 && (value === 'true' || value === 'false');
  if (isWord) return { strictFields: value === 'true', headerErrors: [] };
  const headerErrors = [problem('X-Strict-Fields', TEXTS.trueOrFalse)];
  return { strictFields: false, headerErrors };
}
