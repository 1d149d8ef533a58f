/** The part of package-lock.json that some of the project's own dependencies need. Pure. */

/**
 * @param {object} lock package-lock.json, version 3
 * @param {string[]} devNames which devDependencies are wanted beside all dependencies
 * @returns {object} a lockfile of those, of what they depend on, and of nothing else
 */
export function lockSubset(lock, devNames) {
  const { packages } = lock;
  const wanted = Object.entries(packages[''].devDependencies ?? {}).filter(([name]) =>
    devNames.includes(name),
  );
  const own = { ...packages[''], devDependencies: Object.fromEntries(wanted) };
  const kept = new Set();
  const visit = (folder, needs) => {
    for (const name of needs) {
      const found = placeOf(packages, folder, name);
      // What is not there is optional: a peer, or a package of another platform.
      if (found === undefined || kept.has(found)) continue;
      kept.add(found);
      visit(found, needsOf(packages[found]));
    }
  };
  visit('', [...needsOf(own), ...Object.keys(own.devDependencies)]);
  const entries = Object.entries(packages).filter(([folder]) => kept.has(folder));
  return { ...lock, packages: { '': own, ...Object.fromEntries(entries) } };
}

/** Stands for the registry that npm is set to: `--replace-registry-host` puts that one in its place. */
export const REGISTRY = 'registry.invalid';

/**
 * Names the archive of each package. Without it npm asks the registry for all versions of each package first,
 * which takes half of an installation.
 * @param {object} lock package-lock.json, version 3
 */
export function withArchives(lock) {
  const entries = Object.entries(lock.packages).map(([folder, entry]) => {
    if (folder === '' || entry.link || entry.resolved) return [folder, entry];
    const name = entry.name ?? folder.slice(folder.lastIndexOf('node_modules/') + 13);
    const file = `${name.slice(name.indexOf('/') + 1)}-${entry.version}.tgz`;
    return [folder, { ...entry, resolved: `https://${REGISTRY}/${name}/-/${file}` }];
  });
  return { ...lock, packages: Object.fromEntries(entries) };
}

const needsOf = ({ dependencies, optionalDependencies, peerDependencies }) =>
  Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });

/** As Node looks: beside the package, then in every folder above it. */
function placeOf(packages, folder, name) {
  for (let at = folder; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[place]) return place;
    if (at === '') return undefined;
  }
}
