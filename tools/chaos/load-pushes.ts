/** Pushes of a load: each on a matter of its own, so that no two of them can share their work. */
import { USERNAMES } from './directory';

/** Characters: a to-do with a few sentences. */
const CONTENT = 'A few sentences about what is to be done. '.repeat(6);

/** @returns bodies of upserts that all create a matter */
export function createPushes(): () => string {
  let made = 0;
  return () => {
    made += 1;
    const username = USERNAMES[made % USERNAMES.length];
    return JSON.stringify({
      externalId: `LOAD-${made}`,
      matterType: 'TODO',
      title: `load ${made}`,
      content: CONTENT,
      parties: [{ username, partyRole: 'ASSIGNEE' }],
    });
  };
}
