/** Texts for callers in Chinese and English. Chinese is the default (contract 2.2). */
export const LANGUAGES = ['zh', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

export type Text = Readonly<Record<Language, string>>;

export interface LocalizedText {
  /** The Chinese text. For English callers, `render` replaces the Chinese text with `english`. */
  readonly message: string;
  /** The English text; absent in push-log entries that older versions wrote. */
  readonly english?: string;
}

export const localized = ({ zh, en }: Text) => ({ message: zh, english: en });

export function render<T extends LocalizedText>(
  { english, ...rest }: T,
  language: Language,
): Omit<T, 'english'> {
  return language === 'en' && english !== undefined ? { ...rest, message: english } : rest;
}

export type Bilingual = readonly [english: string, chinese: string];

export const bilingual = ([english, chinese]: Bilingual) => `${english}\n\n${chinese}`;

export const bilingualTitle = ([english, chinese]: Bilingual) => `${english} · ${chinese}`;

/** Returns the description of a zod schema, for zod's `meta`. */
export const describe = (...description: Bilingual) => ({ description: bilingual(description) });
