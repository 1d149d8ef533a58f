/** Field messages are Chinese like the specified ones; the setting is per parse, not global. */
import { z } from 'zod';

export const inChinese = { error: z.locales.zhCN().localeError };
