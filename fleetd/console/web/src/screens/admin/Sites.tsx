import { Autocomplete, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Link } from 'react-router';

import type { Robot } from '../../api/client';
import { useRobots, useSites } from '../../live/robots';
import type { BulkAction } from '../robots/bulkRequest';
import { BulkDialog } from '../robots/BulkDialog';
import { Rows } from './Rows';
import { useAdminTexts } from './text';

const siteLabel = 'site';

/** Which sites there are, which robots each has, and how robots come to another site. */
export function Sites() {
  const t = useAdminTexts();
  const robots = useRobots();
  const sites = useSites();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [site, setSite] = useState('');
  const [action, setAction] = useState<BulkAction>();
  const groups = useMemo(
    () => [...sites, ''].map((name) => ({ name, robots: robots.filter((r) => (r.labels[siteLabel] ?? '') === name) })),
    [robots, sites],
  );
  const ids = [...chosen].filter((id) => robots.some((r) => r.id === id)).sort();
  const choose = (these: readonly Robot[], on: boolean) =>
    setChosen((old) => {
      const next = new Set(old);
      for (const r of these) {
        if (on) next.add(r.id);
        else next.delete(r.id);
      }
      return next;
    });
  const set = site.trim();
  return (
    <Stack>
      <Text size="sm" maw={640}>
        {t.sitesAbout}
      </Text>
      <Group align="flex-end">
        <Autocomplete
          label={t.newSite}
          description={t.siteForHelp}
          value={site}
          onChange={setSite}
          data={sites}
          maxLength={63}
          dir="auto"
          w={{ base: '100%', xs: 360 }}
        />
        <Button
          disabled={ids.length === 0}
          onClick={() =>
            setAction({ kind: 'label', set: set ? { [siteLabel]: set } : {}, unset: set ? [] : [siteLabel] })
          }
        >
          {set || ids.length === 0 ? t.setSite : t.takeSite}
        </Button>
        <Text size="sm" role="status">
          {ids.length === 0 ? t.chooseRobots : t.robotsChosen(ids.length)}
        </Text>
      </Group>
      {robots.length === 0 && <Text role="status">{t.noRobots}</Text>}
      <Rows
        label={t.tabs.sites}
        rows={groups.filter((g) => g.robots.length > 0)}
        keyOf={(g) => g.name}
        columns={[
          {
            head: t.site,
            cell: (g) => {
              const on = g.robots.filter((r) => chosen.has(r.id)).length;
              return (
                <Checkbox
                  label={<span className="any-text">{`${g.name || t.noSite} (${g.robots.length})`}</span>}
                  checked={on === g.robots.length}
                  indeterminate={on > 0 && on < g.robots.length}
                  onChange={(e) => choose(g.robots, e.currentTarget.checked)}
                />
              );
            },
          },
          {
            head: t.robots,
            cell: (g) => <Robots of={g.robots} chosen={chosen} choose={choose} />,
          },
        ]}
      />
      {action && (
        <BulkDialog
          action={action}
          selector={{ ids }}
          name={`${t.site}: ${set || t.noSite}`}
          onClose={() => setAction(undefined)}
        />
      )}
    </Stack>
  );
}

/** Robots of a site beyond these are found on the screen Robots. */
const most = 60;

function Robots({
  of,
  chosen,
  choose,
}: {
  of: readonly Robot[];
  chosen: ReadonlySet<string>;
  choose: (these: readonly Robot[], on: boolean) => void;
}) {
  const t = useAdminTexts();
  return (
    <Group gap="md">
      {of.slice(0, most).map((r) => {
        const others = Object.entries(r.labels).filter(([key]) => key !== siteLabel);
        return (
          <Group key={r.id} gap={6} wrap="nowrap">
            <Checkbox
              aria-label={t.chooseRobot(r.id)}
              checked={chosen.has(r.id)}
              onChange={(e) => choose([r], e.currentTarget.checked)}
            />
            <div>
              <Text size="sm" component={Link} to={`/robots/${encodeURIComponent(r.id)}`} td="underline">
                {r.id}
              </Text>
              {others.length > 0 && (
                <Text size="xs" c="dimmed" className="any-text" dir="auto">
                  {others.map(([key, value]) => `${key}=${value}`).join(', ')}
                </Text>
              )}
            </div>
          </Group>
        );
      })}
      {of.length > most && (
        <Text size="sm" component={Link} to="/robots" td="underline">
          {t.moreRobots(of.length - most)}
        </Text>
      )}
    </Group>
  );
}
