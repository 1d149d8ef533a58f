/** The words of every field, by its name, or by its schema and name where it means something else there. */
import { both } from './both';
import { COMPARISON_WORDS } from './comparison';
import { ENVELOPE_WORDS } from './envelope';
import { FAILURE_WORDS } from './failures';
import { LOG_WORDS } from './log';
import { MATTER_WORDS } from './matter';
import { SELF_WORDS } from './self';
import { STATS_WORDS } from './stats';

const WORDS = {
  ...MATTER_WORDS,
  ...COMPARISON_WORDS,
  ...LOG_WORDS,
  ...ENVELOPE_WORDS,
  ...SELF_WORDS,
  ...FAILURE_WORDS,
  ...STATS_WORDS,
};

/** @throws Error where nobody has described the field: a document with holes is not written */
export function describeField(schema: string, field: string): string {
  const words = WORDS[`${schema}.${field}`] ?? WORDS[field];
  if (!words) throw new Error(`src/openapi/words: nothing about ${schema}.${field}`);
  return both(words);
}
