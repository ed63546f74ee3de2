import { Alert, Badge, Box, Text, Tooltip } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { IconDatabaseOff, IconPlugConnectedX, IconWifiOff } from '@tabler/icons-react';
import { useEffect, useState } from 'react';

import { useMe } from '../api/me';
import { useLive } from '../live/stream';
import { ago, clock } from '../text/time';
import { useShellTexts } from './text';

/** Whether this page is connected to fleetd, and fleetd to its broker and database. */
export function ConnectionPill() {
  const t = useShellTexts();
  const { connection, lostAt, fleetd } = useLive();
  const [, tick] = useState(0);
  const seconds = useInterval(() => tick((n) => n + 1), 1000);
  useEffect(() => {
    if (connection === 'live') seconds.stop();
    else seconds.start();
    return seconds.stop;
  }, [connection]);

  let color = 'green';
  let text = t.live;
  let short = '';
  if (connection === 'connecting') [color, text] = ['gray', t.connecting];
  else if (connection === 'lost') [color, text, short] = ['red', t.reconnecting(ago(Date.now() - lostAt)), t.lost];
  else if (fleetd && !fleetd.broker.ok)
    [color, text, short] = ['red', t.noBroker(fleetd.broker.since ? clock(fleetd.broker.since) : '?'), t.noBrokerShort];
  else if (fleetd && !fleetd.database.ok) [color, text] = ['yellow', t.noDatabase];
  return (
    <Tooltip label={t.connectionHelp}>
      <Badge
        color={color}
        variant="light"
        tt="none"
        role="status"
        data-testid="connection"
        style={{ flexShrink: 0 }}
        maw={{ base: 'calc(100vw - var(--stop-width, 220px) - 64px)', sm: 'none' }}
        title={text}
      >
        <Box component="span" visibleFrom={short ? 'xs' : undefined}>
          {text}
        </Box>
        <Box component="span" hiddenFrom="xs">
          {short}
        </Box>
      </Badge>
    </Tooltip>
  );
}

/** That nobody signs in here: everybody on this machine may do everything. */
export function DevTag() {
  const t = useShellTexts();
  const me = useMe();
  if (!me?.dev) return null;
  return (
    <Tooltip label={t.devHelp}>
      <Badge color="gray" variant="light" tt="none" data-testid="dev" tabIndex={0} style={{ flexShrink: 0 }}>
        <Box component="span" visibleFrom="md">
          {t.dev}
        </Box>
        <Box component="span" hiddenFrom="md">
          {t.devShort}
        </Box>
      </Badge>
    </Tooltip>
  );
}

/** What everybody has to know about the connections, above every screen. */
export function ConnectionBanners() {
  const t = useShellTexts();
  const { connection, fleetd } = useLive();
  return (
    <>
      {connection === 'lost' && (
        <Alert p="xs" radius={0} color="red" icon={<IconWifiOff aria-hidden />} title={t.streamLost} />
      )}
      {connection === 'live' && fleetd && !fleetd.broker.ok && (
        <Alert
          p="xs"
          radius={0}
          color="red"
          icon={<IconPlugConnectedX aria-hidden />}
          title={t.brokerLost}
          data-testid="broker-lost"
        >
          <Why of={fleetd.broker.why} />
        </Alert>
      )}
      {connection === 'live' && fleetd && !fleetd.database.ok && (
        <Alert p="xs" radius={0} color="yellow" icon={<IconDatabaseOff aria-hidden />} title={t.databaseLost}>
          <Why of={fleetd.database.why} />
        </Alert>
      )}
    </>
  );
}

/** A cause as a program words it, which may be long: it stays short here, and is whole in Administration, Health. */
function Why({ of }: { of?: string }) {
  return (
    <Text size="sm" dir="auto" lineClamp={2} className="any-text" title={of}>
      {of}
    </Text>
  );
}
