/** The owner of a partition as text: what one process writes, the next one reads. */
import { ownerName, ownerText, readOwner } from '../../../src/queue/owner';

const OWNER = { id: 'a1b2', sessions: ['5e55', '10ad'], name: 'worker-app1-4711' };

test('an owner is read as it was written', () => {
  expect(readOwner(ownerText(OWNER))).toEqual(OWNER);
  expect(ownerName(ownerText(OWNER))).toBe('worker-app1-4711');
});

test('its text has no blank, and begins with the id', () => {
  expect(ownerText(OWNER)).toMatch(/^a1b2:\S+$/);
});

test('what is no owner is nobody', () => {
  expect(readOwner('')).toEqual({ id: '', sessions: [], name: '' });
});
