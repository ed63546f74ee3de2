import { Accordion, Badge, Group, Stack, Text } from '@mantine/core';

import { texts } from '../../text/language';
import { reasonText, useReasonTexts } from '../../text/reasons';
import { inWords, useTermWords } from '../../text/terms';
import { clock, duration } from '../../text/time';
import { ActionButton, useWhyNot } from './ActionButton';
import { Explain } from './Explain';
import { Toggle } from './Interrupts';
import { LifeActivities } from './LifeActivities';
import { Facts, Nothing, Panel } from './Panel';
import { usePage } from './page';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Autonomous life',
    help: 'What the robot does by itself beside its story, such as breathing, looking about or greeting people.',
    none: 'This robot reports no autonomous life; its release may be too old.',
    why: 'Why',
    focused: 'In focus',
    stack: 'Starts again afterwards',
    next: 'Next',
    suggestions: 'Would start',
    let: 'Let it act by itself',
    stopLife: 'Only the story',
    endFocus: 'End the activity',
    endAll: 'End all activities',
    noFocus: 'no activity has the focus',
    launchpad: 'starts activities by their conditions (launchpad)',
    lifeIs: (state: string) => `life ${state}`,
    launchpadIs: (on: boolean) => `launchpad ${on ? 'on' : 'off'}`,
    abilities: 'Abilities: small things it does by itself',
    ability: { on: 'runs', ready: 'ready', off: 'off' },
    plugins: 'What conditions may know (plug-ins)',
    safeguards: 'Safeguards that its life reacts to',
    safeguardsHelp: 'Whether the robot may move does not depend on these.',
    switched: (name: string, on: boolean) => `${name} ${on ? 'on' : 'off'}`,
    history: 'History of its life',
    starts: (n: number, total: string) => `${n} starts, ${total} in all`,
    free: 'nothing',
    already: 'it is so already',
  },
  {
    title: 'Eigenleben',
    help: 'Was der Roboter neben seiner Geschichte von selbst tut, wie atmen, sich umsehen oder Menschen begrüßen.',
    none: 'Dieser Roboter meldet kein Eigenleben; seine Version ist vielleicht zu alt.',
    why: 'Warum',
    focused: 'Im Mittelpunkt',
    stack: 'Beginnt danach wieder',
    next: 'Als Nächstes',
    suggestions: 'Würde beginnen',
    let: 'Von selbst handeln lassen',
    stopLife: 'Nur die Geschichte',
    endFocus: 'Aktivität beenden',
    endAll: 'Alle Aktivitäten beenden',
    noFocus: 'keine Aktivität steht im Mittelpunkt',
    launchpad: 'beginnt Aktivitäten nach ihren Bedingungen (launchpad)',
    lifeIs: (state: string) => `Eigenleben ${state}`,
    launchpadIs: (on: boolean) => `Launchpad ${on ? 'an' : 'aus'}`,
    abilities: 'Fähigkeiten: Kleines, das er von selbst tut',
    ability: { on: 'läuft', ready: 'bereit', off: 'aus' },
    plugins: 'Quellen: was Bedingungen wissen dürfen',
    safeguards: 'Schutzfunktionen, auf die sein Leben reagiert',
    safeguardsHelp: 'Ob der Roboter sich bewegen darf, hängt nicht davon ab.',
    switched: (name: string, on: boolean) => `${name} ${on ? 'an' : 'aus'}`,
    history: 'Verlauf seines Eigenlebens',
    starts: (n: number, total: string) => `${n}-mal begonnen, zusammen ${total}`,
    free: 'nichts',
    already: 'so ist es schon',
  },
  {
    title: 'Vie autonome',
    help: 'Ce que le robot fait de lui-même à côté de son histoire, comme respirer, regarder autour de lui ou saluer les gens.',
    none: 'Ce robot ne signale pas de vie autonome ; sa version est peut-être trop ancienne.',
    why: 'Pourquoi',
    focused: 'Au premier plan',
    stack: 'Recommence ensuite',
    next: 'Ensuite',
    suggestions: 'Commenceraient',
    let: 'Le laisser agir de lui-même',
    stopLife: 'Seulement l’histoire',
    endFocus: 'Terminer l’activité',
    endAll: 'Terminer toutes les activités',
    noFocus: 'aucune activité n’est au premier plan',
    launchpad: 'commence des activités selon leurs conditions (launchpad)',
    lifeIs: (state) => `vie : ${state}`,
    launchpadIs: (on) => `launchpad ${on ? 'activé' : 'désactivé'}`,
    abilities: 'Aptitudes : de petites choses qu’il fait de lui-même',
    ability: { on: 'en cours', ready: 'prête', off: 'désactivée' },
    plugins: 'Ce que les conditions peuvent savoir (plug-ins)',
    safeguards: 'Protections auxquelles sa vie réagit',
    safeguardsHelp: 'Le droit de bouger du robot n’en dépend pas.',
    switched: (name, on) => `${name} ${on ? 'activé' : 'désactivé'}`,
    history: 'Histoire de sa vie',
    starts: (n, total) => `${n} départs, ${total} en tout`,
    free: 'rien',
    already: 'c’est déjà ainsi',
  },
);

/** How the robot lives by itself: what has the focus, what comes next, and what does not start and why. */
export function Life() {
  const t = useTexts();
  const common = useRobotTexts();
  const reasons = useReasonTexts();
  const terms = useTermWords();
  const whyNot = useWhyNot();
  const life = usePage().detail?.state?.life;
  if (!life)
    return (
      <Panel title={t.title}>
        <Nothing>{t.none}</Nothing>
      </Panel>
    );
  const focus = life.focused ? '' : t.noFocus;
  return (
    <Panel
      title={t.title}
      aside={
        <Badge variant="light" tt="none" color={life.state === 'safeguard' ? 'red' : 'blue'}>
          {inWords(terms.LifeState, life.state)}
        </Badge>
      }
    >
      <div className="life">
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t.help}
          </Text>
          <Facts
            rows={[
              [t.why, reasonText(reasons, life.reason)],
              [t.focused, life.focused || common.none],
              [t.stack, life.stack?.join(', ') ?? ''],
              [t.next, life.next || common.none],
              [t.suggestions, life.suggestions?.join(', ') || common.none],
            ]}
          />
          <Group gap="xs">
            <ActionButton
              whyNot={whyNot || (life.state !== 'disabled' ? t.already : '')}
              sends={['life/set', { state: 'solitary' }, t.lifeIs('solitary')]}
            >
              {t.let}
            </ActionButton>
            <ActionButton
              whyNot={whyNot || (life.state === 'disabled' ? t.already : '')}
              sends={['life/set', { state: 'disabled' }, t.lifeIs('disabled')]}
            >
              {t.stopLife}
            </ActionButton>
            <ActionButton whyNot={whyNot || focus} sends={['life/stop-focus', {}, t.endFocus]}>
              {t.endFocus}
            </ActionButton>
            <ActionButton
              whyNot={whyNot || (life.focused || life.stack?.length ? '' : t.noFocus)}
              sends={['life/stop-all', {}, t.endAll]}
            >
              {t.endAll}
            </ActionButton>
          </Group>
          <LifeActivities />
        </Stack>
        <Stack gap="sm">
          <Explain />
          <Toggle
            label={t.launchpad}
            on={life.launchpad.on}
            verb="life/launchpad"
            args={{ on: !life.launchpad.on }}
            what={t.launchpadIs(!life.launchpad.on)}
          />
          <Accordion variant="contained" multiple>
            <Accordion.Item value="abilities">
              <Accordion.Control>{t.abilities}</Accordion.Control>
              <Accordion.Panel>
                {(life.abilities ?? []).map((a) => (
                  <Text key={a.name} size="sm">
                    {a.name.replaceAll('_', ' ')}:{' '}
                    {a.running ? t.ability.on : a.enabled ? t.ability.ready : t.ability.off}
                  </Text>
                ))}
              </Accordion.Panel>
            </Accordion.Item>
            <Accordion.Item value="plugins">
              <Accordion.Control>{t.plugins}</Accordion.Control>
              <Accordion.Panel>
                <Stack gap={8}>
                  {(life.plugins ?? []).map((p) => (
                    <Toggle
                      key={p.name}
                      label={`${p.name} (${p.group})`}
                      on={p.enabled}
                      verb="life/plugin"
                      args={{ name: p.name, enabled: !p.enabled }}
                      what={t.switched(p.name, !p.enabled)}
                    />
                  ))}
                </Stack>
              </Accordion.Panel>
            </Accordion.Item>
            <Accordion.Item value="safeguards">
              <Accordion.Control>{t.safeguards}</Accordion.Control>
              <Accordion.Panel>
                <Stack gap={8}>
                  <Text size="xs" c="dimmed">
                    {t.safeguardsHelp}
                  </Text>
                  {(life.safeguards ?? []).map((g) => (
                    <Toggle
                      key={g.name}
                      label={g.name.replaceAll('_', ' ')}
                      on={g.enabled}
                      verb="life/safeguard"
                      args={{ name: g.name, enabled: !g.enabled }}
                      what={t.switched(g.name, !g.enabled)}
                    />
                  ))}
                </Stack>
              </Accordion.Panel>
            </Accordion.Item>
            <Accordion.Item value="history">
              <Accordion.Control>{t.history}</Accordion.Control>
              <Accordion.Panel>
                {(life.focus_history ?? []).map((f) => (
                  <Text key={f.since} size="sm">
                    {clock(f.since)} {f.activity || t.free}
                  </Text>
                ))}
                {(life.statistics ?? []).map((s) => (
                  <Text key={s.activity} size="sm">
                    {s.activity}: {t.starts(s.starts, duration(s.total_ms))}
                  </Text>
                ))}
                {(life.state_history ?? []).map((s) => (
                  <Text key={s.since} size="sm" c="dimmed">
                    {clock(s.since)} {inWords(terms.LifeState, s.state)}
                  </Text>
                ))}
              </Accordion.Panel>
            </Accordion.Item>
          </Accordion>
        </Stack>
      </div>
    </Panel>
  );
}
