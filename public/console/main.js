/** The console: a page of its own, for people at the business systems. All that it shows it asks for, signed. */
import { App } from './app.js';
import { h, render } from './lib/preact.js';
import './lib/signals.js';
import { followAddress } from './route.js';
import { openSession } from './session.js';

// Before anything else reads the address: a key may stand in it.
openSession();
followAddress();
const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(h(App, {}), root);
}
