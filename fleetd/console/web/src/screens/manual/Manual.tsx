import { Alert, Anchor, Button, Group, Loader, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconAlertTriangle, IconMaximize } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { Link, useParams } from 'react-router';

import { PerformingBadge } from '../../live/PerformingBadge';
import { fullName } from '../../live/RobotName';
import { useRobot } from '../../live/robots';
import { PageContext, useDetail, useStale } from '../robot/page';
import { Acts } from './Acts';
import { BigStop } from './BigStop';
import { Control } from './Control';
import { Drive, useDriving } from './drive';
import { Driving, Speeds } from './Driving';
import { Floor } from './Floor';
import { HeadAndFace } from './HeadAndFace';
import { useKeyboard } from './inputs';
import { afterPress } from './keys';
import { LeaveDialog } from './LeaveDialog';
import { LightAndSound } from './LightAndSound';
import { Picture } from './Picture';
import { Points } from './Points';
import { useManualTexts } from './text';

/** Manual control of one robot by one person. */
export default function Manual() {
  const { id = '' } = useParams();
  return <ManualPage key={id} id={id} />;
}

function ManualPage({ id }: { id: string }) {
  const t = useManualTexts();
  const row = useRobot(id);
  const detail = useDetail(id);
  const stale = useStale(id);
  const [drive, setDrive] = useState<Drive>();
  const lease = useDriving((s) => s.lease);
  const driving = drive && lease === drive.lease ? drive : undefined;
  useKeyboard(driving);
  useEffect(() => () => void drive?.end(), [drive]);

  // Beside the stick, so that it stays where it is when they come and go.
  const wide = useMediaQuery('(min-width: 75em)', undefined, { getInitialValueInEffect: false });
  const before = (
    <>
      <DriveStopNotice />
      <Control drive={driving} began={setDrive} />
    </>
  );

  const robot = row ?? detail.data;
  if (!robot) return <Loader aria-label={t.title(id)} />;
  return (
    <PageContext value={{ id, robot, detail: detail.data, stale }}>
      <Stack gap="md">
        <BigStop />
        <Group justify="space-between" className="manual-head">
          <Group>
            <Title order={1} size="h2" dir="auto">
              {t.title(fullName(robot))}
            </Title>
            <PerformingBadge robot={robot} />
          </Group>
          <Group gap="xs">
            <Anchor component={Link} to={`/robots/${encodeURIComponent(id)}`} py="sm">
              {t.toRobot}
            </Anchor>
            {document.fullscreenEnabled && (
              <Button
                variant="default"
                h={48}
                leftSection={<IconMaximize size={20} aria-hidden />}
                onClick={() =>
                  void (document.fullscreenElement
                    ? document.exitFullscreen()
                    : document.documentElement.requestFullscreen())
                }
              >
                {t.fullScreen}
              </Button>
            )}
          </Group>
        </Group>
        {!wide && before}
        <SimpleGrid cols={{ base: 1, lg: 3 }} spacing="md">
          <div className="manual-drive">
            <Driving drive={driving} />
          </div>
          <Stack gap="md">
            {wide && before}
            <Floor drive={driving} />
            <Speeds drive={driving} />
            <Points drive={driving} />
            <Acts drive={driving} />
          </Stack>
          <Stack gap="md">
            <Picture />
            <HeadAndFace drive={driving} />
            <LightAndSound drive={driving} />
          </Stack>
        </SimpleGrid>
      </Stack>
      <LeaveDialog drive={driving} />
    </PageContext>
  );
}

/** Why the robot was stopped. It stays until the person drives again or closes it. */
function DriveStopNotice() {
  const t = useManualTexts();
  const it = useDriving((s) => s.stopped);
  return (
    <div role="alert" className="drive-stop-notice">
      {it && (
        <Alert
          color={it.over ? 'red' : 'yellow'}
          icon={<IconAlertTriangle aria-hidden />}
          title={t.causes[it.cause as keyof typeof t.causes] ?? it.cause}
          withCloseButton
          closeButtonLabel={t.close}
          onClose={() => useDriving.setState({ stopped: undefined })}
          data-testid="interrupted"
          data-cause={it.cause}
        >
          <Text size="sm" dir="auto">
            {it.over ? it.detail : t.releaseToGoOn}
            {it.cause === 'repeat' && ` ${t.repeatOff(afterPress / 1000)}`}
          </Text>
        </Alert>
      )}
    </div>
  );
}
