/**
 * Who works on a partition: a session by which its work can be ended, and a name that the logs have.
 */
import { ownerName, ownerText, readOwner } from '../../src/queue/owner';

const SESSION = '0123456789abcdef0123456789abcdef';
const TEXT = ownerText({ session: SESSION, name: 'worker-app1-4711' });

test('both are told from the text', () => {
  expect(readOwner(TEXT)).toEqual({ session: SESSION, name: 'worker-app1-4711' });
  expect(ownerName(TEXT)).toBe('worker-app1-4711');
  expect(TEXT).not.toMatch(/\s/);
});

test('a process of an earlier version wrote the session alone: that is what is known of it', () => {
  expect(readOwner(SESSION)).toEqual({ session: SESSION, name: null });
  expect(ownerName(SESSION)).toBe(SESSION);
});

test('a process of an earlier version, which takes the text for a session, ends the right one', () => {
  expect(Buffer.from(TEXT, 'hex').toString('hex')).toBe(SESSION);
});
