import { Anchor, Card, MultiSelect, Select, Stack, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import { Link } from 'react-router';

import { useRobotsOfSite, useScope } from '../../shell/scope';
import type { Selector } from '../robots/filter';
import { mostNames } from '../robots/selection';
import { groupOf, groupsOf, selectorOfGroup } from './target';
import { useAssignTexts } from './text';

interface Props {
  selector?: Selector;
  /** The selection that was made in Robots, if it is none of single robots. */
  given?: Selector;
  /** Where robots are selected with filters. */
  robotsAt: string;
  onChange: (s: Selector | undefined) => void;
}

/** To whom: robots of the chosen site by name, or a group of them; at first nobody. */
export function WhoForm({ selector, given, robotsAt, onChange }: Props) {
  const t = useAssignTexts();
  const site = useScope((s) => s.site);
  const fleet = useRobotsOfSite();
  const groups = useMemo(() => groupsOf(fleet), [fleet]);
  const ids = selector?.ids ?? [];
  const names = useMemo(() => fleet.map((r) => r.id).sort(), [fleet]);
  const group = groupOf(selector);
  const one = (g: (typeof groups)[number]) => ({
    value: g.value,
    label: g.kind === 'all' ? t.everyone(g.robots) : t.group(g.name, g.robots),
  });
  // A label that no robot has any more stays chosen, and visible.
  const known = groups.some((g) => g.value === group);
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t.who}
        </Title>
        <MultiSelect
          label={t.byName}
          placeholder={ids.length === 0 ? t.byNameHint : undefined}
          searchable
          clearable
          hidePickedOptions
          selectFirstOptionOnChange
          limit={100}
          maxValues={mostNames}
          nothingFoundMessage={t.noRobot}
          clearButtonProps={{ 'aria-label': t.clear }}
          value={ids}
          data={[...new Set([...names, ...ids])]}
          onChange={(next) => onChange(next.length > 0 ? { ids: next } : undefined)}
        />
        <Select
          label={t.orGroup}
          placeholder={t.orGroupHint}
          searchable
          selectFirstOptionOnChange
          clearable
          clearButtonProps={{ 'aria-label': t.clear }}
          value={group || null}
          data={[
            ...(given || group === 'given' ? [{ value: 'given', label: t.chosen }] : []),
            ...(known || !group || group === 'given' ? [] : [{ value: group, label: group.replace(/^label:/, '') }]),
            ...groups.filter((g) => g.kind === 'all' && !site).map(one),
            { group: t.sites, items: groups.filter((g) => g.kind === 'site').map(one) },
            { group: t.labels, items: groups.filter((g) => g.kind === 'label').map(one) },
          ].filter((g) => !('items' in g) || g.items.length > 0)}
          onChange={(v) => onChange(v ? selectorOfGroup(v, given ?? selector) : undefined)}
        />
        <Text size="sm">
          <Anchor component={Link} to={robotsAt} inherit underline="always">
            {t.chooseInRobots}
          </Anchor>
        </Text>
      </Stack>
    </Card>
  );
}
