/** Why nothing of a file can be read. @typedef {import('../../kit/speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

export const WRONG_FILE = {
  empty: w('There is nothing in the file.', '文件为空。'),
  unknown: w(
    'The file is neither UTF-8 nor GBK (line {0}): save it as "CSV UTF-8".',
    '文件既不是 UTF-8 也不是 GBK（第 {0} 行），请另存为“CSV UTF-8”。',
  ),
  'mostly-utf-8': w(
    'Line {0} is not UTF-8, but the file is UTF-8 otherwise: correct the line.',
    '文件是 UTF-8，但第 {0} 行含有无效字节，请修正该行。',
  ),
  doubtful: w(
    'Read as GBK, line {0} is "{1}", which looks wrong. If it is in another encoding, save it as "CSV UTF-8".',
    '按 GBK 读取时第 {0} 行为“{1}”，疑似乱码；如为其他编码，请另存为“CSV UTF-8”。',
  ),
  unmarked: w(
    'The file looks like UTF-16 without a byte order mark: save it as "CSV UTF-8".',
    '文件疑似不带 BOM 的 UTF-16，请另存为“CSV UTF-8”。',
  ),
  damaged: w(
    'Line {0} has bytes that are not of the encoding that the file names.',
    '第 {0} 行含有不属于该文件编码的字节。',
  ),
  quote: w('A quote is not closed, from line {0} on.', '从第 {0} 行起有未闭合的引号。'),
  record: w('The record in line {0} is too long.', '第 {0} 行的记录过长。'),
  large: w(
    'The file is too large for a browser: use matterctl reconcile.',
    '文件过大，请使用 matterctl reconcile。',
  ),
  changed: w(
    'The file has changed since it was chosen: choose it again.',
    '文件在选择之后已被修改，请重新选择。',
  ),
  nothing: w('Nothing in the file can be compared.', '文件中没有可以比对的内容。'),
};
