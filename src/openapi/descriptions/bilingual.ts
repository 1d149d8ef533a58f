/** A description in both languages of the API document: English first, then Chinese. */
export type Bilingual = readonly [english: string, chinese: string];

/** As paragraphs: descriptions are Markdown. */
export const bilingual = ([english, chinese]: Bilingual) => `${english}\n\n${chinese}`;

/** On one line: titles. */
export const bilingualTitle = ([english, chinese]: Bilingual) => `${english} · ${chinese}`;
