/** The operator's screen: a page of the internal port, which asks its process again and again. */
import { h, render } from 'preact';
import '@preact/signals';
import { followLanguage } from '../console/kit/languages.js';
import { followAddress } from '../console/kit/route.js';
import { App } from './app.js';
import { keepLooking } from './look.js';

followAddress();
followLanguage();
keepLooking();
const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(h(App, {}), root);
}
