import { Group, Select, Text } from '@mantine/core';
import { useState } from 'react';

import { api } from '../../api/client';
import { lineOf } from '../../api/lines';
import { aboutOf } from '../../live/report';
import { withOwn } from '../../live/withOwn';
import { texts } from '../../text/language';
import { ownReason, reasonText, useReasonTexts } from '../../text/reasons';
import { inWords, useTermWords } from '../../text/terms';
import { ActionButton, useWhyNot } from './ActionButton';
import { useModeOfRobot } from './Modes';
import { Facts, Panel } from './Panel';
import { usePage } from './page';
import { change } from './sending';
import { useDesired } from './settings';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Mode after start-up',
    help: "fleetd keeps this for the robot, whether or not it is connected. It never ends a stop, a lost link or somebody's control.",
    none: 'nothing: the setting boot_mode decides',
    boot: 'after start-up',
    now: 'now once, and after start-up',
    when: 'When',
    mode: 'Mode',
    set: 'Set',
    label: (mode: string) => `mode ${mode} after start-up`,
    accepted: 'fleetd keeps it for the robot',
    diverged: 'somebody asked for another mode since',
    otherFleet: 'obeys another fleet',
    another: 'this is about another revision',
  },
  {
    title: 'Modus nach dem Hochfahren',
    help: 'fleetd bewahrt das für den Roboter auf, ob er verbunden ist oder nicht. Es beendet nie einen Stopp, eine verlorene Verbindung oder jemandes Kontrolle.',
    none: 'nichts: die Einstellung boot_mode entscheidet',
    boot: 'nach dem Hochfahren',
    now: 'einmal jetzt, und nach dem Hochfahren',
    when: 'Wann',
    mode: 'Modus',
    set: 'Setzen',
    label: (mode: string) => `Modus ${mode} nach dem Hochfahren`,
    accepted: 'fleetd bewahrt es für den Roboter auf',
    diverged: 'jemand hat seitdem einen anderen Modus verlangt',
    otherFleet: 'gehorcht einer anderen Flotte',
    another: 'das betrifft eine andere Revision',
  },
  {
    title: 'Mode après le démarrage',
    help: 'fleetd garde ceci pour le robot, qu’il soit connecté ou non. Cela ne met jamais fin à un arrêt, à une liaison perdue ni au contrôle de quelqu’un.',
    none: 'rien : le réglage boot_mode décide',
    boot: 'après le démarrage',
    now: 'maintenant une fois, et après le démarrage',
    when: 'Quand',
    mode: 'Mode',
    set: 'Régler',
    label: (mode) => `mode ${mode} après le démarrage`,
    accepted: 'fleetd le garde pour le robot',
    diverged: 'quelqu’un a demandé un autre mode depuis',
    otherFleet: 'obéit à une autre flotte',
    another: 'cela concerne une autre révision',
  },
);

interface Wanted {
  mode: string;
  apply: string;
  fleet_id?: string;
  rev: number;
}
interface Said {
  fleet_id?: string;
  desired_rev: number;
  phase: string;
  reason?: string;
  detail?: string;
  mode?: string;
  diverged?: boolean;
}

/** The mode that the fleet desires, beside what the robot reports about it. */
export function DesiredModePanel() {
  const t = useTexts();
  const common = useRobotTexts();
  const reasons = useReasonTexts();
  const terms = useTermWords();
  const name = useModeOfRobot();
  const { id } = usePage();
  const whyNot = useWhyNot('assign', true);
  const all = useDesired();
  const [mode, setMode] = useState('ato');
  const [apply, setApply] = useState<'boot' | 'now'>('boot');
  const document = all.data?.desired.find((d) => d.topic === 'desired_mode');
  const wanted = document?.desired as Wanted | undefined;
  const said = document?.reported as Said | undefined;
  const about = aboutOf(wanted, said);
  const body = { mode: { mode, apply }, selector: { ids: [id] } };
  const set = () =>
    change(
      id,
      t.label(name(mode)),
      async () => {
        await api.POST('/api/v1/desired', { body });
        await all.refetch();
        return t.accepted;
      },
      lineOf('desired', { body }),
    );
  return (
    <Panel title={t.title}>
      <Text size="sm" c="dimmed">
        {t.help}
      </Text>
      <Facts
        rows={[
          [common.requested, wanted ? `${name(wanted.mode)}, ${wanted.apply === 'now' ? t.now : t.boot}` : t.none],
          [
            common.reported,
            said &&
              (about === 'otherFleet'
                ? t.otherFleet
                : withOwn(
                    [
                      said.mode && name(said.mode),
                      inWords(terms.DeployPhase, said.phase),
                      reasonText(reasons, said.reason, said.detail),
                      said.diverged && t.diverged,
                      wanted && about === 'another' && t.another,
                    ]
                      .filter(Boolean)
                      .join(', '),
                    ownReason(reasons, said.reason, said.detail),
                  )),
          ],
        ]}
      />
      {document?.overtaken && (
        <Text size="sm" c="red">
          {common.overtaken}: {document.overtaken}
        </Text>
      )}
      <Group align="flex-end">
        <Select
          label={t.mode}
          value={mode}
          allowDeselect={false}
          onChange={(v) => setMode(v ?? 'ato')}
          data={['mnl', 'ato'].map((m) => ({ value: m, label: name(m) }))}
        />
        <Select
          label={t.when}
          value={apply}
          allowDeselect={false}
          miw={240}
          onChange={(v) => setApply(v as 'boot' | 'now')}
          data={[
            { value: 'boot', label: t.boot },
            { value: 'now', label: t.now },
          ]}
        />
        <ActionButton whyNot={whyNot} line={lineOf('desired', { body })} onClick={set}>
          {t.set}
        </ActionButton>
      </Group>
    </Panel>
  );
}
