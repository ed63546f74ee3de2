/** What fleetd writes about rollouts in words of its own, and what a stage manager says. $1 stands for the first group. */
const plainEnglish: [RegExp, string][] = [
  [/^enough of its reachable robots have the content; they are watched for the soak$/, 'enough of its robots have it'],
  [/\bits gate is open\b/, 'enough of its robots have it, and they are well'],
  [/\bare confirmed, and the gate asks for\b/, 'have it, and it takes'],
  [/; and for the soak of wave "(.*)"/, '; then wave "$1" is watched for a while'],
  [/\b(?:it waits for )?the soak of wave "(.*)"/, 'wave "$1" is watched for a while'],
  [/\b(\d+) to be offered the content\b/, '$1 still to come'],
  [/\b(\d+) offered the content\b/, '$1 getting it'],
  [
    /\bit reports the content active, also after a failure, and is watched for the soak\b/,
    'it has it in use, and is watched',
  ],
  [/\bwatched for the soak\b/, 'being watched'],
  [/\bit still reports the content active, a soak later\b/, 'it has it in use, also after it was watched'],
  [
    /\bit did not report the content active again, a soak later,/,
    'it did not say again, after it was watched, that it has it in use,',
  ],
  [/\bit reports the content active\b/, 'it has it in use'],
];

/** The sentence without fleetd's own terms: soak, gate, offered. */
export const inPlainEnglish = (why: string): string =>
  plainEnglish.reduce((said, [own, plain]) => said.replace(own, plain), why);

/** The sentence with words for the states of robots that fleetd counts in it, as 2 CONFIRMED or SILENT (1). */
export const withStateWords = (why: string, words: Record<string, string>): string =>
  why
    .replace(/\b(\d+) ([A-Z_]+)\b/g, (own, n: string, state: string) => (words[state] ? `${words[state]} (${n})` : own))
    .replace(/\b([A-Z_]+) \((\d+)\)/g, (own, state: string, n: string) =>
      words[state] ? `${words[state]} (${n})` : own,
    );
