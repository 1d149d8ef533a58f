/** Bodies and answers of lines: OpenAPI 3.1 has no word for them, the text's content is a list of them. */
import { type Bilingual, bilingual } from '../../protocol/bilingual';
import type { Json } from '../json-schema';

export const NDJSON = 'application/x-ndjson';

export const linesOf = (about: Bilingual, line: Json, example: readonly unknown[]) => ({
  [NDJSON]: {
    schema: {
      type: 'string',
      description: bilingual(about),
      contentMediaType: NDJSON,
      contentSchema: { type: 'array', items: line },
    },
    examples: {
      example: { value: example.map((value) => `${JSON.stringify(value)}\n`).join('') },
    },
  },
});
