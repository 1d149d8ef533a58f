/** A username is found as a word in bodies, whatever is beside it and however it is escaped. */
import fc from 'fast-check';
import { createMentions } from '../../../src/domain/mentions';

const isIn = (username: string, body: string) => createMentions(username).isIn(body);
/** JSON with every character escaped. */
const escaped = (text: string) =>
  `"${[...Array(text.length).keys()]
    .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('')}"`;

test.each([
  ['li.lei', 'asked by li.lei.'],
  ['li.lei', 'li.lei的请假'],
  ['li.lei', '请li.lei审批'],
  ['li.lei', '审批人-li.lei，li.lei_'],
  ['li.lei', '@li.lei 请审批'],
  ['li.lei', 'li.lei...ok'],
  ['li.lei', 'li.lei.的请假'],
  ['zhang-san', '"zhang-san"'],
  ['a+b', 'of a+b,'],
  ['a.b', 'of a.b'],
  ['$&(x)', 'of $&(x)'],
  ['张三', '张三的请假'],
  ['张三', '请张三审批'],
  // Nobody knows whether this is one name.
  ['张三', '张三丰'],
  ['张三', 'x张三2'],
  ['张san', '老张san的'],
])('%s is found in %s', (username, text) => {
  expect(isIn(username, text)).toBe(true);
});

test.each([
  ['li.lei', 'li.lei2'],
  ['li.lei', 'ali.lei'],
  ['li.lei', 'li_lei lixlei Li.Lei'],
  ['li.lei', 'li.lei@example.com'],
  ['li.lei', 'x@li.lei.example'],
  ['zhang-san', 'xzhang-san'],
  ['zhang-san', 'zhang-san-2 2-zhang-san zhang-san_x'],
  ['a+b', 'aab'],
  ['a.b', 'axb'],
  ['张san', '张sang'],
  ['li', 'lí li\u0301'],
])('%s is not found in %s', (username, text) => {
  expect(isIn(username, text)).toBe(false);
});

const NAME = 'zhang-san';
const INNER = { approver: NAME };
test.each([
  ['a string', JSON.stringify({ title: 1 }).replace('1', escaped(NAME))],
  ['a line of a batch', `{"op":"x"}\n{"title":${escaped(NAME)}}\n{"half`],
  ['the name of a field', `{${escaped(NAME)}:1}`],
  ['a field that occurs twice', `{"a":${escaped(NAME)},"a":1}`],
  ['a document that breaks off', `{"title":${escaped(NAME)},`],
  ['JSON in a string', JSON.stringify({ payloadJson: `{"approver":${escaped(NAME)}}` })],
  ['JSON in JSON in a string', JSON.stringify([JSON.stringify([JSON.stringify([INNER])])])],
  ['text after a line feed', JSON.stringify({ content: `by\n${NAME}\tand` })],
])('it is found in %s', (_what, body) => {
  expect(isIn(NAME, body)).toBe(true);
  expect(isIn('zhang', body)).toBe(false);
});

/** With more than blanks, because a name of blanks alone is also found in the blanks around it. */
const names = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 10 })
  .filter((name) => name.trim() !== '');

test('every name is found between blanks, at every level of JSON', () => {
  fc.assert(
    fc.property(names, fc.nat({ max: 3 }), (name, levels) => {
      let body = ` ${name} `;
      for (let level = 0; level < levels; level += 1) body = JSON.stringify({ body });
      expect(isIn(name, body)).toBe(true);
      const { replaceIn } = createMentions(name);
      expect(replaceIn(` ${name} `, '$&')).toBe(' $& ');
    }),
  );
});
