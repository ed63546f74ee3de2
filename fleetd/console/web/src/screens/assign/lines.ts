import { line, robotsOf, signed } from '../../api/commandline';
import type { Selector } from '../robots/filter';
import type { What } from './model';

/** The command lines that do the same. */
export function linesFor(w: What, selector: Selector, expected: number | undefined, why: string): string[] {
  const rest = [...robotsOf(selector), ...signed(why, expected)];
  switch (w.kind) {
    case 'story':
      if (w.none) return [line('story', 'withdraw', `--apply=${w.apply}`, ...rest)];
      return [line('story', 'assign', w.story, w.rev > 0 && `--rev=${w.rev}`, `--apply=${w.apply}`, ...rest)];
    case 'back':
      return [line('story', 'revert', ...rest)];
    case 'activities':
      return [w.none ? line('activity', 'withdraw', ...rest) : line('activity', 'assign', w.ids.join(','), ...rest)];
    case 'mode':
      return [line('desired', 'mode', w.mode, w.now && '--apply=now', ...rest)];
    case 'settings':
      if (w.none) return [line('desired', 'config', `--unset=${w.key.trim()}`, ...rest)];
      return [line('desired', 'config', `${w.key.trim()}=${w.value.trim()}`, ...rest)];
    case 'places':
      if (w.none) return [line('desired', 'places', '--none', ...rest)];
      return [
        line(
          'desired',
          'places',
          ...(w.sha256 ? ['--digest', w.sha256] : ['-f', `${w.id}.json`]),
          `--id=${w.id}`,
          ...rest,
        ),
      ];
  }
}
