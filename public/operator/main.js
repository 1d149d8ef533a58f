/** The operator's screen: a page of the internal port, which asks its process again and again. */
import { h, render } from '../console/lib/preact.js';
import '../console/lib/signals.js';
import { followAddress } from '../console/route.js';
import { App } from './app.js';
import { keepLooking } from './look.js';

followAddress();
keepLooking();
const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(h(App, {}), root);
}
