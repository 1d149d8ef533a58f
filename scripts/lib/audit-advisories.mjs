/** Compares the report of `npm audit --json` with the explained advisories. Pure. */

/**
 * @param {string} output of npm audit; not a report if the registry does not answer
 * @param {Record<string, string>} explained the reason why the advisory is harmless here, by advisory id
 * @returns {{ skipped: string } | { problems: string[], noted: string[] }}
 */
export function judgeAdvisories(output, explained) {
  const report = parse(output);
  if (!report?.vulnerabilities) return { skipped: whyNot(report, output) };
  const found = new Map(
    Object.values(report.vulnerabilities)
      // A string is the name of another package in the report. An advisory is an object.
      .flatMap(({ via }) => via.filter((cause) => typeof cause === 'object'))
      .map((advisory) => [idOf(advisory), advisory]),
  );
  const problems = [];
  const noted = [];
  for (const [id, { name, severity, title }] of found) {
    const line = `${id}: ${severity}, ${name}: ${title}`;
    if (explained[id]) noted.push(`${line}. Explained: ${explained[id]}`);
    else problems.push(line);
  }
  for (const id of Object.keys(explained).filter((known) => !found.has(known))) {
    problems.push(`${id}: is explained, and is not found any more`);
  }
  return { problems, noted };
}

function parse(output) {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}

const whyNot = (report, output) =>
  report?.message ?? report?.error?.summary ?? (output.trim().slice(0, 200) || 'no report');

const idOf = ({ url, source }) => url?.match(/GHSA(?:-[0-9a-z]{4}){3}/)?.[0] ?? String(source);
