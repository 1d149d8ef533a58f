/** The list of signing examples. Pure. */

/** @typedef {{ readonly name: string, readonly command: string, readonly files: readonly [string, ...string[]] }} Example */

/** As in examples/signing/README.md; the page shows the first file. @type {readonly Example[]} */
export const EXAMPLES = [
  { name: 'Bash', command: 'bash send.sh', files: ['send.sh'] },
  { name: 'JavaScript', command: 'node send.mjs', files: ['send.mjs'] },
  { name: 'Python', command: 'python3 send.py', files: ['send.py'] },
  { name: 'Java', command: 'java Send.java', files: ['Send.java'] },
  { name: 'Go', command: 'go run main.go', files: ['main.go'] },
  { name: 'PHP', command: 'php send.php', files: ['send.php'] },
  { name: 'C#', command: 'dotnet run --', files: ['Program.cs', 'Send.csproj'] },
];
