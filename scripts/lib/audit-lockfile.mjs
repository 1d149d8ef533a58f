/** What makes an install repeatable, read from package.json and package-lock.json. Pure. */

const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;
const TARBALL = /^https:\/\/\S+\.tgz$/;
/** npm on a command line, or as a list of arguments, with a verb that does not hold to the lockfile. */
const LOOSE = [/\bnpm\s+(?:install|i|add|update|up)\b/, /(['"])(?:install|i|add|update|up)\1\s*,/];

/**
 * @param {object} lock package-lock.json
 * @param {Record<string, string>} explained by package folder, why its install script is not needed
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
    if (entry.resolved !== undefined && !TARBALL.test(entry.resolved)) {
      say(`comes from ${entry.resolved}`);
    }
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
 * @param {[string, string][]} files path and text of what may install
 * @param {Record<string, string>} explained by path, why it installs past the lockfile
 */
export function installProblems(files, explained) {
  return files.flatMap(([path, text]) => {
    const lines = text.split('\n');
    const loose = lines.findIndex((line) => LOOSE.some((form) => form.test(line)));
    if (loose < 0) return explained[path] ? [`${path}: is explained, and installs nothing`] : [];
    if (explained[path]) return [];
    return [`${path}:${loose + 1}: installs past the lockfile: ${lines[loose].trim()}`];
  });
}
