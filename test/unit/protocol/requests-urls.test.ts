/** URLs that a portal may open: http, https and app schemes (contract 4.10). */
import { looksLikeHost } from '../../../src/protocol/fields';
import { accept, rejected } from '../../support/bodies';

test.each([
  'http://portal',
  'https://portal.example/a?b=c&d=%20#e',
  'HTTPS://portal/流程/1',
  'weixin://dl/business',
  'dingtalk://dingtalkclient/page/link?url=https%3A%2F%2Fa',
  'my-app+v2.0://x',
  'tel:10086',
  'https://portal/?next=javascript:void',
  'http://user@portal/',
  'app:///page',
  'oa.example.com:8080/x',
  'localhost:3000/a',
])('%s can be opened', (url) => {
  const { operation } = accept('upsert', { pcUrl: url, mobileUrl: url });
  expect(operation).toMatchObject({ content: { pcUrl: url, mobileUrl: url } });
});

const SCHEMES = ['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd'];
const mixedCase = (url: string) =>
  url.replace(/./g, (c, at) => (at % 2 ? c.toUpperCase() : c.toLowerCase()));

test.each([
  ...SCHEMES,
  ...SCHEMES.map((url) => url.toUpperCase()),
  ...SCHEMES.map(mixedCase),
  ...SCHEMES.map((url) => `  ${url}`),
  ...SCHEMES.map((url) => `\u00a0\u3000${url}`),
  ...SCHEMES.map((url) => `\ufeff${url}`),
  ...SCHEMES.map((url) => `\u200b${url}`),
  ...SCHEMES.map((url) => `\t${url}`),
  ...SCHEMES.map((url) => `\n${url}`),
  ...SCHEMES.map((url) => `\x01${url}`),
  ...SCHEMES.map((url) => url.replace(':', '\n:')),
  ...SCHEMES.map((url) => url.replace(/^(.{3})/, '$1\t')),
  ...SCHEMES.map((url) => url.replace(/^(.{3})/, '$1\x00')),
])('%j is rejected', (url) => {
  expect(rejected('upsert', { pcUrl: url, mobileUrl: url })).toEqual(['pcUrl', 'mobileUrl']);
});

test.each([
  'https://',
  'http://',
  'https:',
  'https:oa/x',
  'http:/oa/x',
  'https:///x',
  'HTTPS://?a=b',
  ' https:// ',
  'http://:8080/x',
  'https://:8080',
  'https://:',
  'https://@/x',
  'https://user@/x',
  'https://user:secret@/x',
  'https://user@:8080/x',
  'https://user@?a=b',
  'https://a@b@/x',
])('%j has no host', (url) => {
  expect(rejected('upsert', { pcUrl: url, mobileUrl: url })).toEqual(['pcUrl', 'mobileUrl']);
});

test.each([
  'https://user@oa.example.com/x',
  'https://:secret@oa.example.com/x',
  'https://user:secret@oa.example.com:8080',
  'https://[::1]:8080/x',
  'https://oa.example.com/@/x',
  'https://oa.example.com?a=@/',
  'https://oa.example.com:/x',
])('%j has a host', (url) => {
  expect(rejected('upsert', { pcUrl: url, mobileUrl: url })).toEqual([]);
});

test.each(['C:\\share\\a.doc', 'c:/share/a.doc', 'D:a'])('%j is the path of a file', (url) => {
  expect(rejected('upsert', { pcUrl: url, mobileUrl: url })).toEqual(['pcUrl', 'mobileUrl']);
});

test.each([
  ['oa.example.com:8080/x', true],
  ['oa.example.com:8080', true],
  ['localhost:3000', true],
  ['server:8080/x', true],
  ['tel:10086', false],
  ['weixin://dl/business', false],
  ['https://oa.example.com:8080/x', false],
  ['my-app+v2.0://x', false],
])('%s looks like a host and its port: %s', (url, isHost) => {
  expect(looksLikeHost(url)).toBe(isHost);
});

test.each(['', '   ', '/relative', '//host/path', 'portal.example', '://x', '1http://x', '页面'])(
  '%j has no scheme',
  (url) => {
    expect(rejected('upsert', { pcUrl: url, mobileUrl: url })).toEqual(['pcUrl', 'mobileUrl']);
  },
);

test.each(['\n', '\r', '\t', '\x00', '\x85'])('a URL has no control character in it: %j', (bad) => {
  const url = `https://portal/a${bad}b`;
  expect(rejected('upsert', { pcUrl: url, mobileUrl: url })).toEqual(['pcUrl', 'mobileUrl']);
});
