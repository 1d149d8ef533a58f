/** Texts for callers in Chinese and English. Chinese is the default (contract 2.2). */
export const LANGUAGES = ['zh', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

export type Text = Readonly<Record<Language, string>>;

/** A text in both languages, as the push log stores it. */
export interface LocalizedText {
  /** The Chinese text; after `render`, the text in the language of the caller. */
  readonly message: string;
  /** Absent in push-log entries that older versions wrote. */
  readonly english?: string;
}

export const localized = ({ zh, en }: Text) => ({ message: zh, english: en });

/** Replaces both texts by a `message` in one language. */
export function render<T extends LocalizedText>(
  { english, ...rest }: T,
  language: Language,
): Omit<T, 'english'> {
  return language === 'en' && english !== undefined ? { ...rest, message: english } : rest;
}

/** A description of the OpenAPI document: English first, then Chinese. */
export type Bilingual = readonly [english: string, chinese: string];

/** Joins both languages as two paragraphs of Markdown, for a description. */
export const bilingual = ([english, chinese]: Bilingual) => `${english}\n\n${chinese}`;

/** Joins both languages on one line, for a title. */
export const bilingualTitle = ([english, chinese]: Bilingual) => `${english} · ${chinese}`;

/** Returns the `meta` of a schema: the schema's description in the OpenAPI document, in both languages. */
export const describe = (...description: Bilingual) => ({ description: bilingual(description) });
