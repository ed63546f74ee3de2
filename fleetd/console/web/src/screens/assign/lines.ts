import { lineOf } from '../../api/lines';
import type { Selector } from '../robots/filter';
import type { What } from './model';
import { bodiesOf } from './bodies';

/** The line of the command line that does the same. */
export function lineFor(w: What, selector: Selector, expected: number | undefined, why: string): string {
  const rest = { selector, expected_count: expected, why };
  const { story, activities, desired } = bodiesOf(w);
  if (story) return lineOf('assign', { body: { ...rest, ...story } });
  if (activities) return lineOf('assign-activities', { body: { ...rest, ...activities } });
  if (desired) return lineOf('desired', { body: { ...rest, ...desired } });
  return lineOf('revert-assignment', { body: rest });
}
