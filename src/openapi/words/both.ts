/** Texts in the two languages of those who connect: English first, then Chinese. */
export type Words = readonly [english: string, chinese: string];

/** As paragraphs: descriptions are Markdown. */
export const both = ([english, chinese]: Words) => `${english}\n\n${chinese}`;

/** On one line: titles. */
export const inLine = ([english, chinese]: Words) => `${english} · ${chinese}`;
