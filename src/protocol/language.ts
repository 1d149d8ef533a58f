/** Texts for callers, in both languages; which of them a caller reads is decided where it is answered. */

/** The first is what who asks for none gets: the contract's messages are Chinese. */
export const LANGUAGES = ['zh', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

export type Text = Readonly<Record<Language, string>>;

/** A text on its way to a caller, and in the push log. */
export interface Told {
  /** Chinese, until it is rendered. */
  readonly message: string;
  /** Absent in entries of older versions. */
  readonly english?: string;
}

export const told = ({ zh, en }: Text) => ({ message: zh, english: en });

/** What its reader is told: `message` in one language. */
export function render<T extends Told>(
  { english, ...rest }: T,
  language: Language,
): Omit<T, 'english'> {
  return language === 'en' && english !== undefined ? { ...rest, message: english } : rest;
}
