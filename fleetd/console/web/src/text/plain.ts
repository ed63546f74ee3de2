import { degrees } from './time';

/**
 * Words of the contract in the English sentences of robots and of the tables in Go, and what the console calls them.
 * Buttons.ts has the names of verbs.
 */
const plain: readonly [RegExp, string][] = [
  [/\b[Aa]to is not the active mode\b/g, 'the robot is not in automatic'],
  [/\bmnl is not running\b/g, 'the robot is not in manual'],
  [/\bstr\b/g, 'start-up'],
  [/\bmnl\b/g, 'manual'],
  [/\bato\b/g, 'automatic'],
  [/\ba stop is still latched; release it first\b/g, 'a stop still keeps it stopped; release it first'],
  [/\ba stop was latched: the robot\b/g, 'it was stopped: the robot'],
  [/\ba stop is latched for the robot\b/g, 'a stop keeps the robot stopped'],
  [/\blatched (stops?)\b/g, '$1'],
  [/\blatched\b/g, 'kept'],
  [/\bin (E_STOP|DISABLED|ENABLED)\b/g, '$1'],
  [/\bthe E_STOP\b/g, 'that it needs a reset'],
  [/\bE_STOP\b/g, 'stopped until it is reset'],
  [/\bDISABLED\b/g, 'kept stopped'],
  [/\bENABLED\b/g, 'free to move'],
  [/\ban interrupter\b/g, 'a trigger'],
  [/\binterrupter(s?)\b/g, 'trigger$1'],
  [/\bhandler(s?)\b/g, 'reaction$1'],
  [/\blane(s?)\b/g, 'queue$1'],
];

/** An English sentence without words of the contract, and with angles in degrees. */
export const plainText = (text: string): string =>
  plain
    .reduce((t, [word, by]) => t.replace(word, by), text)
    .replace(/(-?\d+(?:\.\d+)?) rad\b(?!\/)/g, (_, rad: string) => `${degrees(Number(rad))}°`);

/** A table of English sentences without words of the contract. */
export const inPlainWords = <K extends string>(table: Record<K, string>): Record<K, string> =>
  Object.fromEntries(Object.entries<string>(table).map(([k, v]) => [k, plainText(v)])) as Record<K, string>;
