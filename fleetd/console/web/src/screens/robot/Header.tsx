import { Alert, Anchor, Badge, Card, Group, Stack, Text, Title } from '@mantine/core';
import { IconDeviceGamepad2, IconFileDownload, IconHandStop, IconTag } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';

import { colorLabel, nameLabel } from '../../live/drawnFrom';
import { performing } from '../../live/performing';
import { PerformingBadge, useAbout } from '../../live/PerformingBadge';
import { PlayedRobot } from '../../live/PlayedRobot';
import { robotName } from '../../live/RobotName';
import { useActing } from '../../live/timeline';
import { texts } from '../../text/language';
import { usePresenceWords } from '../../text/terms';
import { ago, dateTime } from '../../text/time';
import { ActionButton, useWhyNot } from './ActionButton';
import { Labels } from './Labels';
import { Modes } from './Modes';
import { unheard, useFleetdNow, usePage } from './page';
import { RecordDialog } from './RecordDialog';
import { useRobotTexts } from './text';
import { WayOut } from './WayOut';
import { wayOut } from './wayOut';

const useTexts = texts(
  {
    seen: (since: string) => `last seen ${since}`,
    neverSeen: 'never seen',
    noSite: 'no site',
    labels: 'Labels…',
    record: 'Save its flight record…',
    control: (who: string, scope: string) => `${who} has control (${scope})`,
    left: (s: number) => `${s} s left`,
    free: 'nobody has control',
    drive: 'Manual control',
    stopInput: 'A stop input at the robot is pressed. It is released at the robot, not here.',
    outdated: 'The robot has published a newer state that did not arrive: only mode and safety are current.',
    disputed: 'Two clients connect under the name of this robot.',
  },
  {
    seen: (since: string) => `zuletzt gesehen ${since}`,
    neverSeen: 'nie gesehen',
    noSite: 'kein Standort',
    labels: 'Labels…',
    record: 'Flugschreiber sichern…',
    control: (who: string, scope: string) => `${who} hat die Kontrolle (${scope})`,
    left: (s: number) => `noch ${s} s`,
    free: 'niemand hat die Kontrolle',
    drive: 'Handsteuerung',
    stopInput: 'Ein Stopp-Eingang am Roboter ist gedrückt. Er wird am Roboter gelöst, nicht hier.',
    outdated: 'Ein neuerer Zustand des Roboters kam nicht an: nur Modus und Sicherheit sind aktuell.',
    disputed: 'Zwei Clients verbinden sich unter dem Namen dieses Roboters.',
  },
  {
    seen: (since) => `vu pour la dernière fois ${since}`,
    neverSeen: 'jamais vu',
    noSite: 'sans site',
    labels: 'Étiquettes…',
    record: 'Enregistrement de vol…',
    control: (who, scope) => `${who} a le contrôle (${scope})`,
    left: (s) => `reste ${s} s`,
    free: 'personne n’a le contrôle',
    drive: 'Conduite manuelle',
    stopInput: 'Une entrée d’arrêt est enfoncée sur le robot. Elle se libère sur le robot, pas ici.',
    outdated: 'Le robot a publié un état plus récent qui n’est pas arrivé : seuls le mode et la sécurité sont à jour.',
    disputed: 'Deux clients se connectent sous le nom de ce robot.',
  },
);

/** Who the robot is, what it does, whether it is there, who controls it, and its modes. */
export function Header() {
  const t = useTexts();
  const { id, robot, detail, stale } = usePage();
  const p = performing(robot);
  const acting = useActing(robot);
  // The way out says what it performs, or what keeps it from that.
  const said = p.tone === 'good' || wayOut(robot, detail).length > 0;
  const about = useAbout()(said ? undefined : p.of);
  return (
    <Card withBorder padding="md">
      <div className="robot-head">
        <div className="robot-head-picture">
          <PlayedRobot robot={robot} acting={acting} caps={detail?.caps} state={detail?.state} />
        </div>
        <Stack gap="sm" miw={0}>
          <Group gap="sm" align="center" wrap="wrap">
            <Title order={1} size="h2" dir="auto">
              {robotName(robot)}
            </Title>
            {robotName(robot) !== id && (
              <Text c="dimmed" dir="auto">
                {id}
              </Text>
            )}
            <PerformingBadge robot={robot} terms={p.key !== 'not_connected'} />
            {about && (
              <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
                {about}
              </Text>
            )}
          </Group>
          <Group gap="md" wrap="wrap">
            <Connectivity />
            <LabelsLine />
            <Control />
            <FlightRecord />
          </Group>
          {robot.estop_input && <Alert color="red" icon={<IconHandStop aria-hidden />} title={t.stopInput} />}
          {robot.state_outdated && !stale && <Alert color="yellow" title={t.outdated} />}
          {robot.presence.disputed && <Alert color="red" title={t.disputed} />}
          <WayOut />
          <Modes />
        </Stack>
      </div>
    </Card>
  );
}

function Connectivity() {
  const t = useTexts();
  const words: Record<string, string> = usePresenceWords();
  const { robot } = usePage();
  const now = useFleetdNow();
  const { status, why, last_seen } = robot.presence;
  return (
    <Text size="sm" data-testid="connectivity" title={why}>
      <Text span fw={500}>
        {words[status] ?? status}
      </Text>{' '}
      {status in words && words[status] !== status && (
        <Text span c="dimmed">
          ({status}){' '}
        </Text>
      )}
      {!last_seen
        ? t.neverSeen
        : unheard(robot.presence, now) && (
            <span title={dateTime(last_seen)}>{t.seen(ago(now - Date.parse(last_seen)))}</span>
          )}
    </Text>
  );
}

function LabelsLine() {
  const t = useTexts();
  const { robot } = usePage();
  const whyNot = useWhyNot('administer', true);
  const [open, setOpen] = useState(false);
  const { site, [nameLabel]: _name, [colorLabel]: _color, ...others } = robot.labels;
  return (
    <Group gap={6} wrap="wrap">
      <Badge variant="default" tt="none" dir="auto">
        {site ? `site=${site}` : t.noSite}
      </Badge>
      {Object.entries(others).map(([key, value]) => (
        <Badge key={key} variant="default" tt="none" dir="auto">
          {key}={value}
        </Badge>
      ))}
      <ActionButton
        size="compact-sm"
        variant="subtle"
        leftSection={<IconTag size={14} aria-hidden />}
        whyNot={whyNot}
        onClick={() => setOpen(true)}
      >
        {t.labels}
      </ActionButton>
      {open && <Labels onClose={() => setOpen(false)} />}
    </Group>
  );
}

function FlightRecord() {
  const t = useTexts();
  const whyNot = useWhyNot('records', true);
  const [open, setOpen] = useState(false);
  return (
    <>
      <ActionButton
        size="compact-sm"
        variant="subtle"
        leftSection={<IconFileDownload size={14} aria-hidden />}
        whyNot={whyNot}
        onClick={() => setOpen(true)}
      >
        {t.record}
      </ActionButton>
      {open && <RecordDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function Control() {
  const t = useTexts();
  const common = useRobotTexts();
  const { id, robot, detail } = usePage();
  const c = robot.control;
  const beat = detail?.heartbeat?.mono_ms;
  const left = c && beat ? Math.max(0, Math.round((c.until_ms - beat) / 1000)) : undefined;
  return (
    <Group gap={6} wrap="wrap">
      <Text size="sm" dir="auto" fw={c ? 500 : 400}>
        {c ? t.control(c.by ? `${c.by} (${c.holder})` : c.holder || common.nobody, c.scope) : t.free}
        {c && left !== undefined && `, ${t.left(left)}`}
      </Text>
      <Anchor component={Link} to={`/robots/${encodeURIComponent(id)}/manual`} size="sm">
        <IconDeviceGamepad2 size={14} aria-hidden /> {t.drive}
      </Anchor>
    </Group>
  );
}
