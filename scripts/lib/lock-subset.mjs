/** Reduces package-lock.json to the packages that some dependencies of the project need. Pure. */

/**
 * @param {object} lock package-lock.json, version 3
 * @param {string[]} devNames the devDependencies that are needed besides all dependencies
 * @returns {object} a lockfile of these packages and their dependencies only
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
      // A missing package is optional: a peer, or a package of another platform.
      if (found === undefined || kept.has(found)) continue;
      kept.add(found);
      visit(found, needsOf(packages[found]));
    }
  };
  visit('', [...needsOf(own), ...Object.keys(own.devDependencies)]);
  const entries = Object.entries(packages).filter(([folder]) => kept.has(folder));
  return { ...lock, packages: { '': own, ...Object.fromEntries(entries) } };
}

/** A placeholder: `--replace-registry-host` replaces it by the registry of the npm settings. */
export const REGISTRY = 'registry.invalid';

/**
 * Adds the address of the archive of each package. Without it npm first requests all versions of each package, which
 * takes half of an installation.
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

/** Looks for a package as Node does: beside the package that needs it, then in every folder above it. */
function placeOf(packages, folder, name) {
  for (let at = folder; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[place]) return place;
    if (at === '') return undefined;
  }
}
