/** The language of the page: that of the address, else that of the user. */
import { signal } from '@preact/signals';
import { route } from './route.js';

/** @typedef {readonly [english: string, chinese: string]} Words */

/** The language of the user; `zh` or `en`. */
export const language = signal('zh');

export const isEnglish = () => (route.value.params.lang || language.value) === 'en';

/** A text in the language that is chosen now. @param {Words} words */
export const say = ([english, chinese]) => (isEnglish() ? english : chinese);

/** The same with values in place of {0}, {1}, … @param {Words} words @param {...(string | number)} values */
export const sayWith = (words, ...values) =>
  say(words).replace(/\{(\d)\}/g, (_, place) => String(values[Number(place)] ?? ''));

/** The words of a name of the wire. An unknown name of a newer service is shown as it is. @param {Readonly<Record<string, Words>>} words @param {string} name */
export const sayName = (words, name) =>
  say(Object.hasOwn(words, name) ? (words[name] ?? [name, name]) : [name, name]);
