/** Checks and reads MONGO_URL. */

/** Options that the service itself chooses. */
const OPTIONS_OF_SERVICE =
  /^(readPreference|readPreferenceTags|maxStalenessSeconds|readConcernLevel|w|j|journal|wtimeout|wtimeoutMS)$/i;

/**
 * Rejects options that weaken the write concern, because code 0 promises a durable write.
 *
 * @returns an error text without user and password; undefined if the URL is valid
 */
export function mongoUrlProblem(url: string): string | undefined {
  if (!/^mongodb(\+srv)?:\/\//.test(url)) return 'must start with mongodb:// or mongodb+srv://';
  const { database, options } = partsOf(url);
  if (database === '') {
    return 'must name the database, as in mongodb://host/matter-push?replicaSet=rs0';
  }
  const weak = options.find(isWeak);
  return (
    weak && `must not contain ${weak}: remove it. The service itself chooses the write concern`
  );
}

export function hasPassword(url: string): boolean {
  return /:\/\/[^?]*:[^?]*@|password=|session_token/i.test(url);
}

/** Returns `host:port,host:port` for display, without a password. */
export function serversOf(url: string): string {
  const rest = partsOf(url).base.replace(/^[^:]*:\/\//, '');
  // A password can contain an unescaped `@`.
  return rest.slice(rest.lastIndexOf('@') + 1).split('/')[0] ?? '';
}

export function withoutOptionsOfService(url: string): string {
  const { base, options } = partsOf(url);
  const kept = options.filter((option) => !OPTIONS_OF_SERVICE.test(nameOf(option)));
  return kept.length === 0 ? base : `${base}?${kept.join('&')}`;
}

/** Ignores the case of `name`. */
export const hasOption = (url: string, name: string): boolean =>
  partsOf(url).options.some((option) => nameOf(option).toLowerCase() === name.toLowerCase());

function isWeak(option: string): boolean {
  const [name = '', value = ''] = option.split('=');
  if (/^w$/i.test(name)) return value !== 'majority';
  return /^(j|journal)$/i.test(name) && value !== 'true';
}

const nameOf = (option: string) => option.split('=')[0] ?? '';

// The class `URL` is unusable, because it rejects lists of hosts with ports.
function partsOf(url: string): { base: string; database: string; options: string[] } {
  const [base = '', query = ''] = url.split('?', 2);
  const database = base.replace(/^[^:]*:\/\//, '').split('/')[1] ?? '';
  return { base, database, options: query.split('&').filter(Boolean) };
}
