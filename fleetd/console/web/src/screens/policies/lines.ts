import { line, robotsOf, whyAndExpect } from '../../api/commandline';
import type { PolicyRequest } from './api';

/** The line of the command line that saves a policy. */
export function putLine(id: string, b: PolicyRequest): string[] {
  return [
    line(
      'policy',
      'put',
      id,
      `--place=${b.place}`,
      !b.enabled && '--disabled',
      b.now && '--now',
      ...robotsOf(b.selector),
      ...whyAndExpect(b.why ?? '', b.expected_count),
    ),
  ];
}
