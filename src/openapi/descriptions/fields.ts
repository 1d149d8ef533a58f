/** The description of every field, by its name, or by its schema and name where it means something else there. */
import { bilingual } from '../../protocol/bilingual';
import { COMPARISON_DESCRIPTIONS } from './comparison';
import { ENVELOPE_DESCRIPTIONS } from './envelope';
import { FAILURE_DESCRIPTIONS } from './failures';
import { LOG_DESCRIPTIONS } from './log';
import { MATTER_DESCRIPTIONS } from './matter';
import { SELF_DESCRIPTIONS } from './self';
import { STATS_DESCRIPTIONS } from './stats';

const DESCRIPTIONS = {
  ...MATTER_DESCRIPTIONS,
  ...COMPARISON_DESCRIPTIONS,
  ...LOG_DESCRIPTIONS,
  ...ENVELOPE_DESCRIPTIONS,
  ...SELF_DESCRIPTIONS,
  ...FAILURE_DESCRIPTIONS,
  ...STATS_DESCRIPTIONS,
};

/** @throws Error where nobody has described the field: a document with holes is not written */
export function describeField(schema: string, field: string): string {
  const description = DESCRIPTIONS[`${schema}.${field}`] ?? DESCRIPTIONS[field];
  if (!description) throw new Error(`src/openapi/descriptions: nothing about ${schema}.${field}`);
  return bilingual(description);
}
