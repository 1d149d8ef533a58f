/** A description in both languages of the API document: English first, then Chinese. */
export type Bilingual = readonly [english: string, chinese: string];

/** As paragraphs: descriptions are Markdown. */
export const bilingual = ([english, chinese]: Bilingual) => `${english}\n\n${chinese}`;

/** On one line: titles. */
export const bilingualTitle = ([english, chinese]: Bilingual) => `${english} · ${chinese}`;

/** For `meta` of a schema: what it means, as the API document tells it. */
export const about = (...description: Bilingual) => ({ description: bilingual(description) });
