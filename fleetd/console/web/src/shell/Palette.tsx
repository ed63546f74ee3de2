import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { IconRobot, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import type { Robot } from '../api/client';
import { useMe } from '../api/me';
import { performing } from '../live/performing';
import { usePerformingTexts } from '../live/PerformingBadge';
import { useRobots } from '../live/robots';
import { screens } from '../screens/table';
import { useShellTexts } from './text';

/** At most this many robots are offered; typing narrows them. */
const most = 8;

/** Search over pages and robots, opened with Ctrl-K. */
export function Palette() {
  const t = useShellTexts();
  const words = usePerformingTexts();
  const navigate = useNavigate();
  const me = useMe();
  const [query, setQuery] = useState('');
  const fleet = useRobots();
  const wanted = query.trim().toLowerCase();

  const pages: SpotlightActionData[] = screens
    .filter((s) => s.nav && me?.rights.includes(s.right))
    .map((s) => {
      const Icon = s.icon!;
      return {
        id: s.path,
        label: t.nav[s.nav!],
        leftSection: <Icon size={18} />,
        onClick: () => void navigate(s.path),
      };
    })
    .filter((a) => a.label.toLowerCase().includes(wanted));
  const found: SpotlightActionData[] = firstMatching(fleet, wanted).map((r) => ({
    id: `robot ${r.id}`,
    label: r.id,
    description: words[performing(r).key],
    leftSection: <IconRobot size={18} aria-hidden />,
    onClick: () => void navigate(`/robots/${encodeURIComponent(r.id)}`),
  }));
  return (
    <Spotlight
      actions={[...pages, ...found]}
      filter={(_, actions) => actions}
      query={query}
      onQueryChange={setQuery}
      shortcut={['mod + K']}
      nothingFound={t.nothingFound}
      highlightQuery
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: t.searchHint,
        'aria-label': t.search,
      }}
    />
  );
}

/** The first robots whose name or label has the text; it stops looking when it has enough. */
function firstMatching(fleet: readonly Robot[], wanted: string): Robot[] {
  const found: Robot[] = [];
  for (const r of fleet) {
    if (`${r.id} ${Object.values(r.labels).join(' ')}`.toLowerCase().includes(wanted)) found.push(r);
    if (found.length === most) break;
  }
  return found;
}
