import { Select, Text } from '@mantine/core';

import type { Robot } from '../../api/client';
import { usePerformingTexts } from '../../live/PerformingBadge';
import { type Fitness, fitness } from './tryRobots';
import { useTryTexts } from './tryText';

/** The robots by whether a draft can be tried on each, with the reason. */
export function TryRobotSelect({
  robots,
  value,
  disabled,
  onChange,
}: {
  robots: readonly Robot[];
  value: string;
  disabled: boolean;
  onChange: (id: string) => void;
}) {
  const t = useTryTexts();
  const doing = usePerformingTexts();
  const reason = (r: Robot) => {
    const holder = r.control?.by || r.control?.holder;
    if (holder) return t.held(holder);
    if (fitness(r) === 'ready') return t.ready;
    return fitness(r) === 'step' && r.mode !== 'mnl' ? t.needs(doing[r.doing]) : doing[r.doing];
  };
  const sorted = [...robots].sort((a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }));
  const reasons = new Map(sorted.map((r) => [r.id, reason(r)]));
  const order: Fitness[] = ['ready', 'step', 'cannot'];
  return (
    <Select
      label={t.robot}
      placeholder={robots.length > 0 ? t.choose : t.none}
      searchable
      allowDeselect={false} // to choose the chosen robot again is no change
      limit={200}
      data={order.map((group) => ({
        group: t.groups[group],
        items: sorted
          .filter((r) => fitness(r) === group)
          // The chosen robot stays chosen while this page has control of it.
          .map((r) => ({ value: r.id, label: r.id, disabled: group === 'cannot' && r.id !== value })),
      }))}
      renderOption={({ option }) => (
        <span>
          {option.value}{' '}
          <Text span size="xs" c="dimmed">
            {reasons.get(option.value)}
          </Text>
        </span>
      )}
      value={robots.some((r) => r.id === value) ? value : null}
      disabled={disabled}
      onChange={(v) => onChange(v ?? '')}
      // It opens when it gets the focus, and would cover what the chosen robot is about to do.
      data-autofocus={!value || undefined}
    />
  );
}
