import { Badge, Group, Progress, Table, Text } from '@mantine/core';

import { texts } from '../../text/language';
import { inWords, useTermWords } from '../../text/terms';
import { clock, dateTime } from '../../text/time';
import { batteryOf } from './battery';
import { ActionButton, useWhyNot } from './ActionButton';
import { Facts, Nothing, Panel } from './Panel';
import { type State, usePage } from './page';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Body and link',
    battery: 'Battery',
    charging: 'charging',
    noBattery: 'It reports no battery.',
    link: 'Link (heartbeats)',
    roundTrip: 'Round trip',
    budget: 'Silence left until the link is lost',
    outage: 'Last outage',
    clock: 'Clock',
    clockOff: (ms: number) => `${Math.abs(ms)} ms ${ms > 0 ? 'behind' : 'ahead of'} the fleet`,
    clockUnknown: 'does not know the time of the fleet yet',
    body: 'Body',
    software: 'Software',
    unit: 'Unit',
    state: 'State',
    condition: 'Fault and temperature',
    fine: 'no fault',
    repaired: 'It is repaired',
    acknowledge: (unit: string) => `acknowledge the fault of ${unit}`,
    senses: 'It senses',
    nothing: 'The robot has not reported its state yet.',
    effects: { none: 'used as ever', disabled: 'not used', rest: 'keeps the robot at rest' },
    states: { idle: 'at rest', run: 'may move', halt: 'braking', error: 'stopped until a reset' },
  },
  {
    title: 'Körper und Verbindung',
    battery: 'Batterie',
    charging: 'lädt',
    noBattery: 'Er meldet keine Batterie.',
    link: 'Verbindung',
    roundTrip: 'Umlaufzeit',
    budget: 'Noch mögliche Stille bis zum Verlust der Verbindung',
    outage: 'Letzter Ausfall',
    clock: 'Uhr',
    clockOff: (ms: number) => `geht ${Math.abs(ms)} ms ${ms > 0 ? 'nach' : 'vor'}`,
    clockUnknown: 'kennt die Zeit der Flotte noch nicht',
    body: 'Körper',
    software: 'Software',
    unit: 'Einheit',
    state: 'Zustand',
    condition: 'Fehler und Temperatur',
    fine: 'kein Fehler',
    repaired: 'Es ist behoben',
    acknowledge: (unit: string) => `Fehler von ${unit} bestätigen`,
    senses: 'Er spürt',
    nothing: 'Der Roboter hat seinen Zustand noch nicht gemeldet.',
    effects: { none: 'weiter benutzt', disabled: 'nicht benutzt', rest: 'hält den Roboter in Ruhe' },
    states: { idle: 'in Ruhe', run: 'darf sich bewegen', halt: 'bremst', error: 'gestoppt bis zum Zurücksetzen' },
  },
  {
    title: 'Corps et liaison',
    battery: 'Batterie',
    charging: 'en charge',
    noBattery: 'Il ne signale pas de batterie.',
    link: 'Liaison (signes de vie)',
    roundTrip: 'Aller-retour',
    budget: 'Silence permis avant la perte de la liaison',
    outage: 'Dernière coupure',
    clock: 'Horloge',
    clockOff: (ms) => `${Math.abs(ms)} ms ${ms > 0 ? 'en retard sur' : 'en avance sur'} la flotte`,
    clockUnknown: 'ne connaît pas encore l’heure de la flotte',
    body: 'Corps',
    software: 'Logiciel',
    unit: 'Unité',
    state: 'État',
    condition: 'Panne et température',
    fine: 'pas de panne',
    repaired: 'C’est réparé',
    acknowledge: (unit) => `confirmer la panne de ${unit}`,
    senses: 'Il perçoit',
    nothing: 'Le robot n’a pas encore signalé son état.',
    effects: { none: 'utilisée comme avant', disabled: 'pas utilisée', rest: 'garde le robot au repos' },
    states: { idle: 'au repos', run: 'peut bouger', halt: 'freine', error: 'arrêtée jusqu’à une réinitialisation' },
  },
);

/** Battery, link, units with faults and temperatures, what the robot senses. */
export function Body() {
  const t = useTexts();
  const { robot, detail } = usePage();
  const terms = useTermWords();
  const common = useRobotTexts();
  const s = detail?.state;
  if (!s)
    return (
      <Panel title={t.title}>
        <Nothing>{t.nothing}</Nothing>
      </Panel>
    );
  const beat = detail.heartbeat;
  const battery = batteryOf(s);
  return (
    <Panel title={t.title}>
      {battery ? (
        <Group gap="sm" wrap="nowrap">
          <Text size="sm" miw={170}>
            {t.battery}: {battery.percent} %{battery.charging && `, ${t.charging}`}
          </Text>
          <Progress
            value={battery.percent}
            color={battery.percent < 20 ? 'red' : battery.percent < 40 ? 'yellow' : 'green'}
            aria-label={t.battery}
            flex={1}
          />
        </Group>
      ) : (
        <Nothing>{t.noBattery}</Nothing>
      )}
      <Facts
        rows={[
          [
            t.link,
            `${inWords(terms.LinkState, s.link.state)}, ${common.since(dateTime(s.link.since))}${s.link.client ? ` (${s.link.client})` : ''}`,
          ],
          [t.roundTrip, robot.presence.round_trip_ms ? `${robot.presence.round_trip_ms} ms` : ''],
          [t.budget, s.link.budget_ms ? `${(s.link.budget_ms / 1000).toFixed(1)} s` : ''],
          [
            t.outage,
            s.link.last_outage &&
              `${clock(s.link.last_outage.from)} – ${s.link.last_outage.to ? clock(s.link.last_outage.to) : '…'}`,
          ],
          [t.clock, beat && (beat.clock.known ? t.clockOff(beat.clock.offset_ms ?? 0) : t.clockUnknown)],
          [
            t.body,
            [detail.caps?.robot.model, detail.caps?.robot.serial, detail.caps?.robot.hw].filter(Boolean).join(', '),
          ],
          [
            t.software,
            detail.caps && `${detail.caps.software.robotd}${detail.version_skew ? `: ${detail.version_skew}` : ''}`,
          ],
          [t.senses, (s.signals ?? []).map((g) => [g.signal, g.name, g.level].filter(Boolean).join(' ')).join(', ')],
        ]}
      />
      <Units state={s} />
    </Panel>
  );
}

function Units({ state }: { state: State }) {
  const t = useTexts();
  const whyNot = useWhyNot();
  return (
    <Table verticalSpacing={4} horizontalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.unit}</Table.Th>
          <Table.Th>{t.state}</Table.Th>
          <Table.Th>{t.condition}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {state.units.map((u) => {
          const d = state.diagnosis?.find((x) => x.id === u.id);
          return (
            <Table.Tr key={u.id}>
              <Table.Td>{u.id}</Table.Td>
              <Table.Td>
                <Text size="sm">{t.states[u.state as keyof typeof t.states] ?? u.state}</Text>
                {u.detail && (
                  <Text size="xs" c="dimmed" dir="auto">
                    {u.detail}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                {!d && (
                  <Text size="sm" c="dimmed">
                    {t.fine}
                  </Text>
                )}
                {d && (
                  <Group gap={6}>
                    <Badge color={d.effect === 'none' ? 'yellow' : 'red'} variant="light" tt="none">
                      {[d.fault, d.heat !== 'normal' && d.heat, d.temperature_c && `${d.temperature_c} °C`]
                        .filter(Boolean)
                        .join(', ') || d.severity}
                    </Badge>
                    <Text size="xs">
                      {d.severity}, {t.effects[d.effect as keyof typeof t.effects] ?? d.effect}
                    </Text>
                    {d.unacknowledged && (
                      <ActionButton
                        size="compact-sm"
                        whyNot={whyNot}
                        sends={['sys/ack-fault', { source: d.id }, t.acknowledge(d.id)]}
                      >
                        {t.repaired}
                      </ActionButton>
                    )}
                  </Group>
                )}
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}
