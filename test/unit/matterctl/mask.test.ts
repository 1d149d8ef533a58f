/** Keys in addresses are masked in what people and logs see. */
import { maskAddresses, maskKeysOf } from '../../../tools/matterctl/mask';

test.each([
  ['at https://a.example/x?key=K1&b=2: no', 'at https://a.example/x?… no'],
  ["open 'https://a.example/hook/0a1b2c3d-0000-1111'", "open 'https://a.example/hook/…'"],
  ['https://user:pass@a.example/x', 'https://…@a.example/x'],
  [
    'the service at http://127.0.0.1:3000/push rejects',
    'the service at http://127.0.0.1:3000/push rejects',
  ],
  ['mongodb://a/b?replicaSet=rs0', 'mongodb://a/b?replicaSet=rs0'],
])('of an unknown address: %s', (text, masked) => {
  expect(maskAddresses(text)).toBe(masked);
});

test.each([
  ['https://a.example/send?key=S3CRET%2Bx', 'bad S3CRET+x and S3CRET%2Bx', 'bad … and …'],
  ['https://a.example/hook/0a1b2c3d', 'no /hook/0A1B2C3D', 'no /hook/…'],
  ['https://a.example/send?S3CRET', 'S3CRET', '…'],
  ['https://u:p4ssword@a.example/', 'p4ssword', '…'],
  ['https://a.example/send?v=1&key=S3CRET', 'version 1 of 10', 'version 1 of 10'],
  ['https://a.example/send?key=a%', 'POST /send?key=a%', 'POST /send?key=…'],
  ['https://a.example/', 'status 404', 'status 404'],
])('of %s', (address, text, masked) => {
  expect(maskKeysOf(address, text)).toBe(masked);
});
