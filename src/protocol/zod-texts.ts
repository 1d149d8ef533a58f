/** Messages of zod in both languages. It carries one string, so that is what both travel in. */
import { z } from 'zod';
import { type Text, told } from './language';
import { TEXTS } from './texts';

/** In no message. */
const BETWEEN = '\u0000';

const chinese = z.locales.zhCN().localeError;
const english = z.locales.en().localeError;

/** A text as a message of a schema. */
export const saying = ({ zh, en }: Text): string => zh + BETWEEN + en;

/** The setting is per parse, not global: each schema's own texts come before it. */
export const inBoth = {
  error: (issue: z.core.$ZodRawIssue) => {
    const [zh, en] = [messageOf(chinese(issue)), messageOf(english(issue))];
    if (issue.input !== undefined) return saying({ zh, en });
    const { required } = TEXTS;
    // Of a choice the values are named too.
    if (issue.code === 'invalid_type') return saying(required);
    return saying({ zh: `${required.zh}；${zh}`, en: `${required.en}; ${en}` });
  },
};

/** What a message of a failed parse says. */
export function toldOf(message: string): ReturnType<typeof told> {
  const [zh = '', en = zh] = message.split(BETWEEN);
  return told({ zh, en });
}

const messageOf = (made: ReturnType<typeof chinese>) =>
  (typeof made === 'string' ? made : made?.message) ?? '';
