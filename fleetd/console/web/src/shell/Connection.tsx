import { Alert, Badge, Box, Stack, Text, Tooltip } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { IconDatabaseOff, IconPlugConnectedX, IconUserExclamation, IconWifiOff } from '@tabler/icons-react';
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

/** What everybody has to know about the connections, above every screen. */
export function ConnectionBanners() {
  const t = useShellTexts();
  const { connection, fleetd } = useLive();
  const me = useMe();
  return (
    <Stack gap={0}>
      {me?.dev && (
        <Alert
          p="4px 12px"
          radius={0}
          color="violet"
          variant="light"
          icon={<IconUserExclamation aria-hidden />}
          title={t.dev}
          data-testid="dev"
        />
      )}
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
    </Stack>
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
