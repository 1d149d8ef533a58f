/** The screens by their names in the address. Each is a file of its own, which the page loads when it first shows the screen. */
import { signal } from '@preact/signals';
import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Waiting } from './kit/parts.js';

/** @typedef {import('preact').FunctionComponent} Component */

/** @type {Readonly<Record<string, () => Promise<Component>>>} */
const FILES = {
  overview: async () => (await import('./screens/overview/overview.js')).Overview,
  failures: async () => (await import('./screens/failures/failures.js')).Failures,
  pushes: async () => (await import('./screens/pushes/pushes.js')).Pushes,
  push: async () => (await import('./screens/push/push.js')).Push,
  matters: async () => (await import('./screens/matters/matters.js')).Matters,
  matter: async () => (await import('./screens/matter/matter.js')).Matter,
  reconcile: async () => (await import('./screens/reconcile/reconcile.js')).Reconcile,
  setup: async () => (await import('./screens/setup/setup.js')).Setup,
  help: async () => (await import('./screens/help/help.js')).Help,
};
export const IN_NAVIGATION = [
  'overview',
  'failures',
  'pushes',
  'matters',
  'reconcile',
  'setup',
  'help',
];

/** @param {string} name */
export const isScreen = (name) => Object.hasOwn(FILES, name);

/** @type {import('@preact/signals').Signal<Readonly<Record<string, Component>>>} */
const loaded = signal({});

/** @param {string} name */
async function load(name) {
  if (loaded.peek()[name]) return;
  const component = await FILES[name]?.();
  if (component) loaded.value = { ...loaded.peek(), [name]: component };
}

/** Loads the other screens too, so that an open page works on during an outage, and after an update of the service. */
async function loadOthers() {
  for (const name of Object.keys(FILES)) {
    // A screen that cannot be loaded now is loaded when it is shown.
    await load(name).catch(() => undefined);
  }
}

/** @param {{ name: string }} props */
export function Screen({ name }) {
  const [failure, setFailure] = useState(/** @type {Error | undefined} */ (undefined));
  useEffect(() => {
    load(name).then(loadOthers, setFailure);
  }, [name]);
  // The guard around the screen shows the error, and mounts the screen again on request.
  if (failure) throw failure;
  const shown = loaded.value[name];
  return shown ? h(shown, {}) : h(Waiting, {});
}
