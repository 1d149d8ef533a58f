/** Which language the caller reads: Accept-Language (RFC 9110, 12.5.4). */
import { LANGUAGES, type Language } from '../protocol/language';

const QUALITY = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** @returns the language that is wanted most; of equals the first; Chinese where none of ours is */
export function languageOf(header: string | undefined): Language {
  const [fallback] = LANGUAGES;
  if (header === undefined) return fallback;
  let best: { readonly language: Language; readonly quality: number } | undefined;
  for (const range of header.split(',')) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
    const primary = tag.toLowerCase().split('-')[0];
    const language = LANGUAGES.find((it) => it === primary);
    const quality = qualityOf(parameters);
    if (language && quality > (best?.quality ?? 0)) best = { language, quality };
  }
  return best?.language ?? fallback;
}

/** What cannot be read is not wanted. */
function qualityOf([parameter]: readonly string[]): number {
  if (parameter === undefined) return 1;
  return Number(QUALITY.exec(parameter)?.[1] ?? 0);
}
