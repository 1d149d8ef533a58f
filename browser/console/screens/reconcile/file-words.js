/** Why a file is rejected. @typedef {import('../../kit/speech.js').Words} Words */

/** @param {string} english @param {string} chinese @returns {Words} */
const w = (english, chinese) => [english, chinese];

export const WRONG_FILE = {
  empty: w('The file is empty.', '文件为空。'),
  unknown: w(
    'Line {0} is neither UTF-8 nor GBK. Save the file as "CSV UTF-8".',
    '第 {0} 行既不是 UTF-8 也不是 GBK。请将文件另存为“CSV UTF-8”。',
  ),
  'mostly-utf-8': w(
    'The file is UTF-8, but line {0} is not. Correct line {0}.',
    '文件是 UTF-8，但第 {0} 行不是。请修正第 {0} 行。',
  ),
  doubtful: w(
    'In GBK, line {0} reads "{1}". If it looks wrong, save the file as "CSV UTF-8".',
    '按 GBK 读取时第 {0} 行为“{1}”。如为乱码，请将文件另存为“CSV UTF-8”。',
  ),
  unmarked: w(
    'The file looks like UTF-16 without a byte order mark. Save the file as "CSV UTF-8".',
    '文件疑似不带 BOM 的 UTF-16。请将文件另存为“CSV UTF-8”。',
  ),
  damaged: w(
    'Line {0} does not have the encoding that the file states.',
    '第 {0} 行不符合文件声明的编码。',
  ),
  quote: w('A quote in line {0} is not closed.', '第 {0} 行的引号未闭合。'),
  record: w('Line {0} is too long.', '第 {0} 行过长。'),
  large: w(
    'The file is too large for a browser. Use matterctl reconcile.',
    '文件过大，请使用 matterctl reconcile。',
  ),
  changed: w(
    'The file has changed since it was chosen. Choose it again.',
    '文件在选择之后已被修改，请重新选择。',
  ),
};
