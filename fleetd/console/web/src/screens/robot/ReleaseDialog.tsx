import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';

import type { Robot } from '../../api/client';
import { lineOf } from '../../api/lines';
import { problemOf } from '../../api/problem';
import { useLive } from '../../live/stream';
import { CommandLine } from '../../shell/CommandLine';
import { release } from '../../shell/stopping';
import { texts } from '../../text/language';
import { usePage } from './page';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: (robot: string) => `Release the stop of ${robot}`,
    help: 'The robot stays disabled after this; the next step is to enable it.',
    all: 'This stop holds every robot: all of them are released.',
    others: (n: number) => `This stop holds ${n} robots: all of them are released.`,
    why: 'Why may it move again?',
    now: 'Release',
  },
  {
    title: (robot: string) => `Stopp von ${robot} freigeben`,
    help: 'Die Bewegung bleibt danach gesperrt; der nächste Schritt gibt sie frei.',
    all: 'Dieser Stopp hält alle Roboter: alle werden freigegeben.',
    others: (n: number) => `Dieser Stopp hält ${n} Roboter: alle werden freigegeben.`,
    why: 'Warum darf er sich wieder bewegen?',
    now: 'Freigeben',
  },
);

/** Releases one latched stop, with a reason. */
export function ReleaseDialog({ latch, onClose }: { latch: Robot['latches'][number]; onClose: () => void }) {
  const t = useTexts();
  const common = useRobotTexts();
  const { id } = usePage();
  const stop = useLive((s) => s.fleetd?.latched.find((l) => l.id === latch.id));
  const [why, setWhy] = useState('');
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState('');
  const submit = async () => {
    setBusy(true);
    try {
      await release([latch.id], why.trim());
      onClose();
    } catch (thrown) {
      const p = problemOf(thrown);
      setRefused([p.message, p.hint].filter(Boolean).join('; '));
    }
    setBusy(false);
  };
  return (
    <Modal opened onClose={onClose} title={t.title(id)} closeButtonProps={{ 'aria-label': common.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (why.trim()) void submit();
        }}
      >
        <Stack>
          <Text size="sm">{t.help}</Text>
          {(stop?.all || latch.all) && <Alert color="yellow" title={t.all} />}
          {stop && !stop.all && stop.count > 1 && <Alert color="yellow" title={t.others(stop.count)} />}
          <TextInput
            label={t.why}
            value={why}
            maxLength={256}
            required
            size="md"
            data-autofocus
            dir="auto"
            error={refused || undefined}
            onChange={(e) => setWhy(e.currentTarget.value)}
          />
          <Group justify="flex-end">
            <CommandLine lines={[lineOf('release-stops', { body: { ids: [latch.id], why } })]} />
            <Button variant="default" h={48} onClick={onClose}>
              {common.cancel}
            </Button>
            <Button type="submit" h={48} loading={busy} disabled={why.trim() === ''}>
              {t.now}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
