/** How a number of the file is shown: in a unit that people read, with so many digits. */
interface Unit {
  suffix: string;
  /** So many of the file's units are one of these. */
  factor: number;
  digits: number;
  step: number;
}

const degree = Math.PI / 180;

const units: readonly [ending: string, unit: Unit][] = [
  ['_ms', { suffix: ' s', factor: 1000, digits: 3, step: 0.1 }],
  ['_radps', { suffix: '°/s', factor: degree, digits: 1, step: 5 }],
  ['_rad', { suffix: '°', factor: degree, digits: 1, step: 5 }],
  ['_mps', { suffix: ' m/s', factor: 1, digits: 2, step: 0.1 }],
  ['_m', { suffix: ' m', factor: 1, digits: 2, step: 0.1 }],
];

/** The unit in which people read a field, by the ending of its name. */
export const unitOf = (field: string): Unit | undefined => units.find(([ending]) => field.endsWith(ending))?.[1];

const round = (n: number, digits: number) => Number(n.toFixed(digits));

/** A number of the file in its unit for people. */
export function shown(field: string, value: number): number {
  const u = unitOf(field);
  return u ? round(value / u.factor, u.digits) : value;
}

/** A number that a person typed, as the file has it. */
export function stored(field: string, value: number): number {
  const u = unitOf(field);
  if (!u) return value;
  return field.endsWith('_ms') ? Math.round(value * u.factor) : round(value * u.factor, 4);
}

/** A number of the file with its unit, such as 0.5 s for 500 of start_ms. */
export const withUnit = (field: string, value: number) => `${shown(field, value)}${unitOf(field)?.suffix ?? ''}`;

/** The description of a field without what is true of the file only: its unit, and quotes. */
export const withoutUnit = (description = '') =>
  description
    .replace(/ ?In (milliseconds|radians|radians per second|metres|metres per second)\./, '')
    .replace(', in quotes', '');

/** A number of the file that is outside of its limits, and these, each with its unit; nothing if the file's number is what people read. */
export function beyond(
  field: string,
  value: unknown,
  { minimum, maximum }: { minimum?: number; maximum?: number },
): [value: string, from: string, to: string] | undefined {
  if (!unitOf(field) || typeof value !== 'number' || minimum === undefined || maximum === undefined) return undefined;
  if (value >= minimum && value <= maximum) return undefined;
  return [withUnit(field, value), withUnit(field, minimum), withUnit(field, maximum)];
}
