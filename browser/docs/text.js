/** Splits the texts of the OpenAPI document by language. Pure. */

/** @typedef {import('./shapes').Words} Words */

/** A description: English, an empty line, Chinese. @param {string} [text] @returns {Words} */
export const pairOf = (text = '') => twoOf(text, '\n\n');

/** A title: both on one line. @param {string} text @returns {Words} */
export const titleOf = (text) => twoOf(text, ' · ');

/** @param {string} text @param {string} between @returns {Words} */
function twoOf(text, between) {
  const [english = '', chinese = english] = text.split(between);
  return [english, chinese];
}

/**
 * The head of the document: an introduction and a list in each language, then an example.
 *
 * @param {string} description
 * @returns {{ intro: Words, points: Words[], example: string }}
 */
export function aboutOf(description) {
  const [intro = '', list = '', introduced = '', listed = '', example = ''] =
    description.split('\n\n');
  const chinese = pointsOf(listed);
  return {
    intro: [unwrap(intro), unwrap(introduced)],
    points: pointsOf(list).map((point, index) => [point, chinese[index] ?? '']),
    example: example.replace(/^```text\n|\n```$/g, ''),
  };
}

/** @param {string} list */
const pointsOf = (list) => list.split(/^- /m).slice(1).map(unwrap);

/** Lines were broken for the eye: Chinese has no space there. @param {string} text */
const unwrap = (text) =>
  text
    .trim()
    .replace(/(?<=[\u3000-\u9fff\uff00-\uffef])\n\s*(?=[\u3000-\u9fff\uff00-\uffef])/g, '')
    .replace(/\n\s*/g, ' ');

/**
 * The marks of Markdown that the texts use.
 *
 * @param {string} text
 * @returns {{ tag?: 'code' | 'strong', text: string }[]}
 */
export function marksOf(text) {
  return text
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .filter(Boolean)
    .map((part) => {
      if (part.startsWith('`')) return { tag: 'code', text: part.slice(1, -1) };
      if (part.startsWith('**')) return { tag: 'strong', text: part.slice(2, -2) };
      return { text: part };
    });
}
