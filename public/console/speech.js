/** The language of the page: Chinese, or English where somebody asks for it. */
import { route } from './route.js';

/** @typedef {readonly [english: string, chinese: string]} Words */

export const isEnglish = () => route.value.params.lang === 'en';

/** A text in the language that is chosen now. @param {Words} words */
export const say = ([english, chinese]) => (isEnglish() ? english : chinese);

/** The same with values in place of {0}, {1}, … @param {Words} words @param {...(string | number)} values */
export const sayWith = (words, ...values) =>
  say(words).replace(/\{(\d)\}/g, (_, place) => String(values[Number(place)] ?? ''));

/** Of a name of the wire its words; of one that a newer service gives the name itself. @param {Readonly<Record<string, Words>>} words @param {string} name */
export const sayName = (words, name) =>
  say(Object.hasOwn(words, name) ? (words[name] ?? [name, name]) : [name, name]);
