/** What fleetd writes about rollouts in words of its own, and what a stage manager says. $1 stands for the first group. */
const plainEnglish: [RegExp, string][] = [
  [/^enough of its reachable robots have the content; they are watched for the soak$/, 'enough of its robots have it'],
  [/\bits gate is open\b/, 'enough of its robots have it, and they are well'],
  [/\bare confirmed, and the gate asks for\b/, 'have it, and it takes'],
  [/; and for the soak of wave "(.*)"/, '; then wave "$1" is watched for a while'],
  [/\bit waits for the soak of wave "(.*)"/, 'wave "$1" is watched for a while'],
  [/\b(\d+) watched for the soak\b/, '$1 being watched'],
  [/\b(\d+) to be offered the content\b/, '$1 still to come'],
  [/\b(\d+) offered the content\b/, '$1 getting it'],
  [
    /\bit reports the content active, also after a failure, and is watched for the soak\b/,
    'it has it in use, and is watched',
  ],
  [/\bit still reports the content active, a soak later\b/, 'it has it in use, also after it was watched'],
  [/\bit reports the content active\b/, 'it has it in use'],
  [/\b(\d+) CONFIRMED\b/, '$1 confirmed'],
  [/\b(\d+) UNCHANGED\b/, '$1 had it already'],
];

/** The sentence without fleetd's own terms: soak, gate, offered. */
export const inPlainEnglish = (why: string): string =>
  plainEnglish.reduce((said, [own, plain]) => said.replace(own, plain), why);
