/** Checks that an install is repeatable, from package.json and package-lock.json. Pure. */

const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const VERBS = 'install|i|add|update|up|upgrade|install-test|link|init|create|exec|x';
/** Commands that install without the lockfile, on one line. */
const LOOSE = [
  // npm on a command line, also with options before the subcommand, or as a list of arguments.
  new RegExp(`\\bnpm(?:\\s+-\\S+(?:\\s+[^-\\s]\\S*)?)*\\s+(?:${VERBS})(?![\\w-])`),
  /(['"])(?:install|i|add|update|up|upgrade|exec)\1\s*[,\]]/,
  // These commands fetch what they run, or have their own lockfile.
  /\b(?:npx|yarn|pnpm|pnpx|bunx?)\b/,
];

/**
 * @param {object} lock package-lock.json
 * @param {Record<string, string>} explained the reason why the install script of a package is not needed, by package
 *   folder
 * @returns {string[]} problems, each naming its package
 */
export function lockProblems(lock, explained) {
  const problems = [];
  if (lock.lockfileVersion !== 3)
    problems.push(`lockfileVersion is ${lock.lockfileVersion}, not 3`);
  const packages = Object.entries(lock.packages ?? {}).filter(([folder]) => folder !== '');
  if (packages.length === 0) problems.push('no packages');
  for (const [folder, entry] of packages) {
    const say = (what) => problems.push(`${folder}: ${what}`);
    if (entry.link) say('is a link to a folder');
    else if (!SHA512.test(entry.integrity ?? '')) say('has no sha512 integrity');
    // The lockfile must not name a registry: omit-lockfile-registry-resolved in .npmrc makes npm omit it.
    if (entry.resolved !== undefined) say(`comes from ${entry.resolved}`);
    if (!EXACT.test(entry.version ?? '')) say(`has version ${entry.version}`);
    if (entry.hasInstallScript && !explained[folder]) say('has an install script, unexplained');
  }
  const scripted = packages.filter(([, entry]) => entry.hasInstallScript);
  const has = new Set(scripted.map(([folder]) => folder));
  for (const folder of Object.keys(explained).filter((name) => !has.has(name))) {
    problems.push(`${folder}: is explained, and has no install script`);
  }
  return problems;
}

/** @returns {string[]} dependencies and overrides in package.json that are not one exact version */
export function rangeProblems(manifest) {
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'];
  return kinds.flatMap((kind) => inexact(manifest[kind] ?? {}, kind));
}

function inexact(versions, path) {
  return Object.entries(versions).flatMap(([name, version]) => {
    const at = `${path}.${name}`;
    if (typeof version === 'object') return inexact(version, at);
    return EXACT.test(version) ? [] : [`${at}: ${version} is not one exact version`];
  });
}

/**
 * @param {[string, string][]} files path and text of each file that may install something
 * @param {Record<string, Record<string, string>>} explained the reason why a line installs without the lockfile, by
 *   path and then by trimmed line; other lines of the file stay problems
 */
export function installProblems(files, explained) {
  const found = new Set();
  const unexplained = files.flatMap(([path, text]) =>
    text.split('\n').flatMap((whole, index) => {
      const line = whole.trim();
      if (!LOOSE.some((form) => form.test(line))) return [];
      found.add(`${path}: ${line}`);
      if (explained[path]?.[line]) return [];
      return [`${path}:${index + 1}: installs past the lockfile: ${line}`];
    }),
  );
  const outdated = Object.entries(explained)
    .flatMap(([path, lines]) => Object.keys(lines).map((line) => `${path}: ${line}`))
    .filter((place) => !found.has(place));
  return [...unexplained, ...outdated.map((place) => `${place}: is explained, and is not there`)];
}
