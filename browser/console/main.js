/** The console: the page for the people of a source system. It reads and sends everything with signed requests. */

import { h, render } from 'preact';
import { App } from './app.js';
import '@preact/signals';
import { followLanguage } from './kit/languages.js';
import { followAddress } from './kit/route.js';
import { openSession } from './read/session.js';

// Before anything else reads the address: a key may stand in it.
openSession();
followAddress();
followLanguage();
const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(h(App, {}), root);
}
