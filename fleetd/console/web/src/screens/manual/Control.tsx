import {
  Badge,
  Box,
  Button,
  Card,
  Group,
  Modal,
  Progress,
  Stack,
  Text,
  TextInput,
  ThemeIcon,
  Tooltip,
} from '@mantine/core';
import { useIntersection, useMediaQuery } from '@mantine/hooks';
import { IconCheck, IconCircleDashed } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';

import { api } from '../../api/client';
import { problemOf } from '../../api/problem';
import { OwnSentence } from '../../live/OwnSentence';
import { toast } from '../../shell/toast';
import { aboutAnswer } from '../../text/answers';
import { ownReason, reasonText, useReasonTexts } from '../../text/reasons';
import { clock } from '../../text/time';
import { ActionButton, useWhyNot } from '../robot/ActionButton';
import { useEvents, usePage } from '../robot/page';
import { PartLines } from '../robot/PartLines';
import { Drive, leaseFor, useDriving } from './drive';
import { useManualTexts } from './text';

/** What is needed before a person drives, and who has control. */
export function Control({ drive, began }: { drive?: Drive; began: (d: Drive) => void }) {
  const t = useManualTexts();
  const { robot, stale } = usePage();
  const noCommand = useWhyNot('command');
  const manual = robot.mode === 'mnl' && robot.mode_phase === 'running';
  const enabled = robot.safety === 'ENABLED';
  const held = robot.doing === 'waiting_for_release';
  if (drive && manual && enabled && !stale) return null; // nothing is left to do, and on a phone the stick needs the room
  return (
    <Card withBorder padding="sm" data-part="manual">
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Group gap="lg" role="group" aria-label={t.before}>
          <Step done={!stale} name={stale ? t.notConnected : t.steps.connected} />
          <Step done={manual} name={manual ? t.steps.manual : t.notManual}>
            {manual && !drive && !robot.control && (
              <ActionButton whyNot={noCommand} h={48} sends={['mode/set', { mode: 'ato' }, t.leaveAto]}>
                {t.leaveAto}
              </ActionButton>
            )}
            {!manual && (
              <ActionButton
                whyNot={noCommand}
                h={48}
                variant="filled"
                color="indigo.8"
                sends={['mode/set', { mode: 'mnl' }, t.toManual]}
              >
                {t.toManual}
              </ActionButton>
            )}
          </Step>
          <Step done={enabled} name={enabled ? t.steps.enabled : t.notEnabled}>
            {!enabled && (
              <Tooltip label={t.enableNote}>
                <span>
                  <ActionButton
                    whyNot={noCommand || (held ? t.stopLatched : '')}
                    explain={held}
                    h={48}
                    sends={['safety/enable', {}, t.enable]}
                  >
                    {t.enable}
                  </ActionButton>
                </span>
              </Tooltip>
            )}
          </Step>
          <Step done={!!drive} name={t.steps.control}>
            {!drive && <Take began={began} />}
          </Step>
        </Group>
        <PartLines />
      </Group>
    </Card>
  );
}

function Step({ done, name, children }: { done: boolean; name: string; children?: ReactNode }) {
  return (
    <Group gap="xs" mih={48}>
      <ThemeIcon color={done ? 'green.9' : 'gray.7'} size="sm" radius="xl" aria-hidden>
        {done ? <IconCheck size={14} /> : <IconCircleDashed size={14} />}
      </ThemeIcon>
      <Text size="sm" fw={done ? 400 : 500}>
        {name}
      </Text>
      {children}
    </Group>
  );
}

/** Who has control, and the way to get it. */
function Take({ began }: { began: (d: Drive) => void }) {
  const t = useManualTexts();
  const { id, robot } = usePage();
  const noRight = useWhyNot('manual');
  const [failed, setFailed] = useState({ said: '', own: '' });
  const [asking, setAsking] = useState(false);
  const [why, setWhy] = useState('');
  const holder = robot.control && (robot.control.by || robot.control.holder);
  const since = useEvents(id, { type: 'control_taken', limit: 1 }).data?.[0]?.ts;

  const take = async (verb: 'control/acquire' | 'control/takeover') => {
    setFailed({ said: '', own: '' });
    setAsking(false);
    try {
      const batch = await api.POST('/api/v1/commands', {
        params: { header: { Prefer: 'wait=5' } },
        body: { verb, args: { ttl_ms: leaseFor }, selector: { ids: [id] }, why: why || undefined },
      });
      const c = batch.data!.commands[0];
      const lease = c?.answer?.lease?.id;
      if (c?.answer?.status === 'SUCCEEDED' && lease) began(new Drive(id, lease));
      else {
        const skipped = batch.data!.skipped?.[0];
        const said = c?.answer?.detail || c?.because || skipped?.detail;
        const reason = c?.answer?.reason ?? skipped?.reason;
        setFailed({
          said: reasonText(useReasonTexts.now(), reason, said, aboutAnswer(c?.answer)),
          own: ownReason(useReasonTexts.now(), reason, said),
        });
      }
    } catch (thrown) {
      const p = problemOf(thrown);
      setFailed({ said: [p.message, p.hint].filter(Boolean).join('; '), own: '' });
    }
  };
  return (
    <>
      {holder ? (
        <Stack gap={0}>
          <Text size="sm" dir="auto" data-testid="holder">
            {t.held(holder, since ? clock(since) : '')}
          </Text>
          <Text size="xs" c="dimmed">
            {t.observer}
          </Text>
        </Stack>
      ) : (
        <Text size="sm" c="dimmed" data-testid="holder">
          {t.free}
        </Text>
      )}
      {holder ? (
        <ActionButton whyNot={noRight} h={48} onClick={() => setAsking(true)}>
          {t.takeover}
        </ActionButton>
      ) : (
        <ActionButton
          whyNot={noRight}
          h={48}
          variant={robot.mode === 'mnl' ? 'filled' : 'default'}
          color="indigo.8"
          onClick={() => take('control/acquire')}
        >
          {t.take}
        </ActionButton>
      )}
      {failed.said && (
        <Text size="sm" c="red.9" role="alert" dir="auto">
          {t.refused(failed.said)}
          <OwnSentence>{failed.own}</OwnSentence>
        </Text>
      )}
      <Modal
        opened={asking}
        onClose={() => setAsking(false)}
        title={t.takeoverTitle(holder ?? '')}
        closeButtonProps={{ 'aria-label': t.close }}
      >
        <Stack>
          <Text size="sm">{t.takeoverHelp(holder ?? '')}</Text>
          <TextInput
            label={t.why}
            value={why}
            maxLength={256}
            dir="auto"
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
          <Button color="red.9" h={48} onClick={() => void take('control/takeover')}>
            {t.takeoverNow}
          </Button>
        </Stack>
      </Modal>
    </>
  );
}

/** The countdown of the lease of this page. Where its place is out of sight, it is below the stop. */
export function Held({ drive }: { drive: Drive }) {
  const t = useManualTexts();
  const { id, robot } = usePage();
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(performance.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const until = robot.control?.until_ms ?? 0;
  const low = useMediaQuery('(max-height: 32em)', undefined, { getInitialValueInEffect: false });
  const { ref, entry } = useIntersection({ rootMargin: low ? '-64px 0px 0px' : '-152px 0px 0px' });
  const giveBack = async () => {
    await drive.end();
    toast({ color: 'blue', title: t.gaveBack, message: t.staysHere(id) }, [id]);
  };
  const { monoMS, monoAt } = useDriving.getState(); // they change ten times a second
  const left = monoMS ? Math.max(0, until - (monoMS + now - monoAt)) : leaseFor;
  return (
    <Box ref={ref} mih={48}>
      <Group gap="xs" className={entry?.isIntersecting === false ? 'held-away' : undefined}>
        <Tooltip label={t.yoursHelp}>
          <Stack gap={2} w={150} tabIndex={0}>
            <Badge variant="light" color={left < 8000 ? 'red' : 'green'} tt="none" data-testid="lease">
              {t.yours(Math.ceil(left / 1000))}
            </Badge>
            <Progress
              value={(left / leaseFor) * 100}
              size="xs"
              aria-label={t.yours(Math.ceil(left / 1000))}
              color={left < 8000 ? 'red' : 'green'}
            />
          </Stack>
        </Tooltip>
        {left < 12_000 && (
          <Button h={48} color="indigo.8" onClick={() => void drive.renew(true)}>
            {t.keep}
          </Button>
        )}
        <Button h={48} variant="default" onClick={() => void giveBack()}>
          {t.giveBack}
        </Button>
      </Group>
    </Box>
  );
}
