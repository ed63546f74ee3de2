import { Badge, Loader, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { api, data, type Schemas } from '../../api/client';
import { fleetdNow, useLive } from '../../live/stream';
import { ListState } from '../../shell/ListState';
import { ago, dateTime } from '../../text/time';
import { Facts } from './Facts';
import { Rows } from './Rows';
import { useAdminTexts } from './text';

/** How this instance of fleetd, its broker, its database and its certificates are. */
export function Health() {
  const t = useAdminTexts();
  const s = useLive((l) => l.fleetd);
  if (!s) return <Loader aria-label={t.loading} />;
  const rows: [string, ReactNode][] = [
    [t.broker, <State key="b" of={s.broker} />],
    [t.database, <State key="d" of={s.database} />],
    [t.backup, <NewestBackup key="backup" />],
    [t.received, s.messages.toLocaleString()],
    ...(s.dropped ? [[t.dropped, s.dropped.toLocaleString()] as [string, ReactNode]] : []),
    ...(s.disputed ? [[t.disputed, s.disputed] as [string, ReactNode]] : []),
  ];
  return (
    <Stack gap="xl">
      <Facts label={t.tabs.health} rows={rows} />
      <Instances of={s} />
      <StopButtons of={s} />
      <Certificates />
    </Stack>
  );
}

function State({ of }: { of: Schemas['Health'] }) {
  const t = useAdminTexts();
  const Icon = of.ok ? IconCheck : IconX;
  return (
    <Stack gap={2}>
      <Badge
        color={of.ok ? 'green' : 'red'}
        variant="light"
        tt="none"
        size="lg"
        leftSection={<Icon size={14} aria-hidden />}
      >
        {of.ok ? `${t.ok}${of.kind ? ` (${of.kind})` : ''}` : t.fails}
      </Badge>
      {of.why && (
        <Text size="sm" dir="auto" className="any-text">
          {of.why}
        </Text>
      )}
      {of.since && (
        <Text size="xs" c="dimmed">
          {t.since(dateTime(of.since))}
        </Text>
      )}
    </Stack>
  );
}

/** When the newest backup was made, by whom, and whether that is too long ago. */
function NewestBackup() {
  const t = useAdminTexts();
  const list = useQuery({
    queryKey: ['backups'],
    queryFn: () => data(api.GET('/api/v1/backups', { params: { query: { limit: 20 } } })),
  });
  if (!list.data) return <ListState of={list} rows={0} empty="" />;
  const newest = list.data.backups.find((b) => b.kind === 'made');
  if (!newest) return <Text size="sm">{t.noBackup}</Text>;
  const age = fleetdNow() - Date.parse(newest.at);
  const old = !!list.data.max_age_s && age > list.data.max_age_s * 1000;
  return (
    <Stack gap={2}>
      <Badge
        color={old ? 'red.8' : 'green'}
        variant={old ? 'filled' : 'light'}
        tt="none"
        size="lg"
        leftSection={old ? <IconAlertTriangle size={14} aria-hidden /> : <IconCheck size={14} aria-hidden />}
      >
        {ago(age)}
      </Badge>
      <Text size="sm" dir="auto" className="any-text">
        {newest.file}
      </Text>
      <Text size="xs" c="dimmed" className="any-text">
        {t.backupBy(dateTime(newest.at), newest.by, megabytes(newest.bytes))}
      </Text>
    </Stack>
  );
}

const megabytes = (bytes: number) =>
  `${(bytes / 1_000_000).toLocaleString(undefined, { maximumFractionDigits: 1 })} MB`;

/** Whether a part answers an instance; old: as it said before it went silent. */
function Link({ ok, old }: { ok: boolean; old?: boolean }) {
  const t = useAdminTexts();
  const Icon = ok ? IconCheck : IconX;
  return (
    <Badge
      color={old ? 'gray' : ok ? 'green' : 'red'}
      variant="light"
      tt="none"
      leftSection={<Icon size={12} aria-hidden />}
    >
      {ok ? t.ok : t.fails}
    </Badge>
  );
}

type Instance = Schemas['Status']['instances'][number];

function Does({ of: i }: { of: Instance }) {
  const t = useAdminTexts();
  return (
    <Badge variant={i.leads ? 'filled' : 'default'} color="blue.8" tt="none">
      {i.leads ? t.leads : i.broker ? t.standsBy : t.silent}
    </Badge>
  );
}

function Instances({ of: s }: { of: Schemas['Status'] }) {
  const t = useAdminTexts();
  const lead = s.leadership;
  return (
    <Stack gap="xs" component="section" aria-labelledby="instances">
      <Title order={2} size="h4" id="instances">
        {t.instances}
      </Title>
      <Text size="sm" c="dimmed">
        {t.instancesHelp}
      </Text>
      <Rows
        label={t.instances}
        rows={s.instances}
        keyOf={(i) => i.name}
        stale={(i) => !i.broker}
        columns={[
          {
            head: t.instance,
            cell: (i) => <span className="any-text">{i.this ? `${i.name} (${t.thisOne})` : i.name}</span>,
          },
          {
            head: t.does,
            cell: (i) => <Does of={i} />,
          },
          { head: t.version, cell: (i) => <span className="any-text">{i.version ?? t.saysNothing}</span> },
          { head: t.started, cell: (i) => (i.started_at ? dateTime(i.started_at) : '–') },
          { head: t.broker, cell: (i) => <Link ok={!!i.broker} /> },
          { head: t.database, cell: (i) => (i.version ? <Link ok={!!i.database} old={!i.broker} /> : '–') },
          {
            head: t.heard,
            cell: (i) => (i.heard_at ? ago(Date.parse(s.ts) - Date.parse(i.heard_at)) : '–'),
          },
        ]}
      />
      {lead.why && (
        <Text size="sm" dir="auto">
          {t.whyLeader(lead.why)}
        </Text>
      )}
      {!lead.leader && <Text role="status">{t.noLeader}</Text>}
    </Stack>
  );
}

/** The stop buttons that fleetd knows, and whether they answer. */
function StopButtons({ of: s }: { of: Schemas['Status'] }) {
  const t = useAdminTexts();
  const all = s.stop_buttons ?? [];
  return (
    <Stack gap="xs" component="section" aria-labelledby="stop-buttons">
      <Title order={2} size="h4" id="stop-buttons">
        {t.stopButtons}
      </Title>
      <Text size="sm" c="dimmed">
        {t.stopButtonsHelp}
      </Text>
      {all.length === 0 && <Text size="sm">{t.noStopButtons}</Text>}
      <Rows
        label={t.stopButtons}
        rows={all}
        keyOf={(b) => b.name}
        columns={[
          { head: t.stopButton, cell: (b) => <span className="any-text">{b.name}</span> },
          {
            head: t.answers,
            // Without the broker fleetd hears no button: what it knew of one says nothing about now.
            cell: (b) =>
              !s.broker.ok ? (
                <Badge color="gray" variant="light" tt="none">
                  {t.notKnown}
                </Badge>
              ) : b.silent_since ? (
                <Badge color="red.8" tt="none" leftSection={<IconAlertTriangle size={12} aria-hidden />}>
                  {t.silentSince(dateTime(b.silent_since))}
                </Badge>
              ) : b.heard_at ? (
                <Badge color="green" variant="light" tt="none" leftSection={<IconCheck size={12} aria-hidden />}>
                  {t.ok}
                </Badge>
              ) : (
                <Badge color="gray" variant="light" tt="none">
                  {t.awaited}
                </Badge>
              ),
          },
          { head: t.heard, cell: (b) => (b.heard_at ? ago(Date.parse(s.ts) - Date.parse(b.heard_at)) : '–') },
          { head: t.listedIn, cell: (b) => (b.listed ? t.listed : t.unlisted) },
        ]}
      />
    </Stack>
  );
}

/** days before its end from which a certificate is shown as urgent: ca server makes them for 398. */
const urgent = 30;

function Certificates() {
  const t = useAdminTexts();
  const list = useQuery({
    queryKey: ['instance-certificates'],
    queryFn: () => data(api.GET('/api/v1/instance-certificates')),
  });
  const all = [
    ...(list.data?.own ?? []).map((c) => ({ ...c, key: c.use, what: t.uses[c.use], revoked: '' })),
    ...(list.data?.certificates ?? []).map((c) => ({
      ...c,
      key: c.serial,
      what: t.ofInstance,
      name: c.name || c.serial,
      revoked: c.revoked ? t.revoked(dateTime(c.revoked), c.revoked_by ?? '', c.revoked_why ?? '') : '',
    })),
  ];
  return (
    <Stack gap="xs" component="section" aria-labelledby="certificates">
      <Title order={2} size="h4" id="certificates">
        {t.certificates}
      </Title>
      <Text size="sm" c="dimmed">
        {t.certificatesHelp}
      </Text>
      <ListState of={list} rows={all.length} empty={t.noCertificates} />
      <Rows
        label={t.certificates}
        rows={all}
        keyOf={(c) => c.key}
        stale={(c) => c.revoked !== ''}
        columns={[
          { head: t.usedFor, cell: (c) => c.what },
          { head: t.holder, cell: (c) => <span className="any-text">{c.name}</span> },
          { head: t.until, cell: (c) => dateTime(c.expires) },
          { head: t.daysLeft, cell: (c) => (c.revoked ? c.revoked : <DaysLeft until={c.expires} />) },
        ]}
      />
    </Stack>
  );
}

function DaysLeft({ until }: { until: string }) {
  const t = useAdminTexts();
  const days = Math.floor((Date.parse(until) - fleetdNow()) / 86_400_000);
  if (days >= urgent) return t.daysText(days);
  return (
    <Badge color="red.8" tt="none" leftSection={<IconAlertTriangle size={12} aria-hidden />}>
      {days < 0 ? t.expired : t.daysText(days)}
    </Badge>
  );
}
