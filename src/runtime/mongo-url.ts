/**
 * What a connection string may say. How sure a write is, and where its reads go, is not the URL's to
 * decide: code 0 rests on it.
 */

/** Options that would move reads off the primary, or weaken a write. */
const NOT_ITS_TO_DECIDE =
  /^(readPreference|readPreferenceTags|maxStalenessSeconds|readConcernLevel|w|j|journal|wtimeout|wtimeoutMS)$/i;

/**
 * What is wrong with it in words for an operator, without what it says of users and passwords;
 * undefined where nothing is. An option that would make the writes less sure is named: whoever wrote
 * it believes that it counts.
 */
export function mongoUrlProblem(url: string): string | undefined {
  if (!/^mongodb(\+srv)?:\/\//.test(url)) return 'must start with mongodb:// or mongodb+srv://';
  const { database, options } = partsOf(url);
  if (database === '') {
    return 'must name the database, as in mongodb://host/matter-push?replicaSet=rs0';
  }
  const weak = options.find(isWeak);
  return weak && `must not say ${weak}: writes are confirmed by majority and journal; leave it out`;
}

/** Whether it holds a password or the like. */
export function hasPassword(url: string): boolean {
  return /:\/\/[^?]*:[^?]*@|password=|session_token/i.test(url);
}

/** Its servers as `host:port,host:port`, without users, passwords and options: what may be printed. */
export function serversOf(url: string): string {
  const rest = partsOf(url).base.replace(/^[^:]*:\/\//, '');
  // A password may hold what should have been escaped.
  return rest.slice(rest.lastIndexOf('@') + 1).split('/')[0] ?? '';
}

/** The same without the options that are not the URL's to decide. */
export function withoutOverrides(url: string): string {
  const { base, options } = partsOf(url);
  const kept = options.filter((option) => !NOT_ITS_TO_DECIDE.test(nameOf(option)));
  return kept.length === 0 ? base : `${base}?${kept.join('&')}`;
}

/** Whether it has an option of this name, whose letters may be of either case. */
export const namesOption = (url: string, name: string): boolean =>
  partsOf(url).options.some((option) => nameOf(option).toLowerCase() === name.toLowerCase());

function isWeak(option: string): boolean {
  const [name = '', value = ''] = option.split('=');
  if (/^w$/i.test(name)) return value !== 'majority';
  return /^(j|journal)$/i.test(name) && value !== 'true';
}

const nameOf = (option: string) => option.split('=')[0] ?? '';

// By hand: several hosts are no URL by the standard.
function partsOf(url: string): { base: string; database: string; options: string[] } {
  const [base = '', query = ''] = url.split('?', 2);
  const database = base.replace(/^[^:]*:\/\//, '').split('/')[1] ?? '';
  return { base, database, options: query.split('&').filter(Boolean) };
}
