import { Group, Select, Stack, Switch, Text, Tooltip } from '@mantine/core';
import { useState } from 'react';

import { verbLine } from '../../api/commandline';
import type { Verb } from '../../contract';
import { OwnSentence } from '../../live/OwnSentence';
import { texts } from '../../text/language';
import { forWhomText, whoText } from '../../text/triggers';
import { ownReason, reasonText, useReasonTexts } from '../../text/reasons';
import { clock } from '../../text/time';
import { ActionButton, useSend, useWhyNot } from './ActionButton';
import { Nothing, Panel } from './Panel';
import { useEvents, usePage } from './page';

const useTexts = texts(
  {
    title: 'Interrupts',
    running: 'Running',
    noneRunning: 'Nothing interrupts the story.',
    one: (handler: string, forWhom: string, at: string) => `${handler} ${forWhom}, since ${at}`,
    end: 'End it',
    endLabel: (handler: string) => `end the interrupt ${handler}`,
    refused: 'Refused lately',
    noneRefused: 'No request was refused.',
    times: (n: number) => `${n} times`,
    try: 'Raise a test interrupt',
    handler: 'Reaction',
    interrupter: 'Trigger (who asks)',
    raise: 'Raise',
    raiseLabel: (handler: string) => `interrupt ${handler}`,
    choose: 'choose a reaction first',
    notInAto: 'the robot is not in automatic',
    switches: 'Triggers',
    halted: 'They wait: the robot is not in automatic.',
    switchLabel: (who: string, on: boolean) => `trigger ${who} ${on ? 'on' : 'off'}`,
    forbid: 'Forbid in automatic',
    allow: 'Allow in automatic',
    always: 'people are not switched off here',
  },
  {
    title: 'Unterbrechungen',
    running: 'Laufen',
    noneRunning: 'Nichts unterbricht die Geschichte.',
    one: (handler: string, forWhom: string, at: string) => `${handler} ${forWhom}, seit ${at}`,
    end: 'Beenden',
    endLabel: (handler: string) => `Unterbrechung ${handler} beenden`,
    refused: 'Zuletzt abgelehnt',
    noneRefused: 'Keine Anfrage wurde abgelehnt.',
    times: (n: number) => `${n}-mal`,
    try: 'Zum Test unterbrechen',
    handler: 'Reaktion',
    interrupter: 'Im Namen von',
    raise: 'Unterbrechen',
    raiseLabel: (handler: string) => `Unterbrechung ${handler}`,
    choose: 'wählen Sie zuerst eine Reaktion',
    notInAto: 'der Roboter ist nicht in der Automatik',
    switches: 'Wer unterbrechen darf',
    halted: 'Sie ruhen: die Automatik ist nicht aktiv.',
    switchLabel: (who: string, on: boolean) => `Auslöser ${who} ${on ? 'an' : 'aus'}`,
    forbid: 'In der Automatik verbieten',
    allow: 'In der Automatik erlauben',
    always: 'Personen werden hier nicht abgeschaltet',
  },
  {
    title: 'Interruptions',
    running: 'En cours',
    noneRunning: 'Rien n’interrompt l’histoire.',
    one: (handler, forWhom, at) => `${handler} ${forWhom}, depuis ${at}`,
    end: 'Terminer',
    endLabel: (handler) => `terminer l’interruption ${handler}`,
    refused: 'Refusées récemment',
    noneRefused: 'Aucune demande n’a été refusée.',
    times: (n) => `${n} fois`,
    try: 'Interrompre pour essayer',
    handler: 'Réaction',
    interrupter: 'Déclencheur (qui demande)',
    raise: 'Interrompre',
    raiseLabel: (handler) => `interruption ${handler}`,
    choose: 'choisissez d’abord une réaction',
    notInAto: 'le robot n’est pas en automatique',
    switches: 'Déclencheurs',
    halted: 'Ils attendent : le robot n’est pas en automatique.',
    switchLabel: (who, on) => `déclencheur ${who} ${on ? 'activé' : 'désactivé'}`,
    forbid: 'Interdire en automatique',
    allow: 'Permettre en automatique',
    always: 'les personnes ne se désactivent pas ici',
  },
);

/** The queue of interrupts, the requests that were refused and why, and who may interrupt. */
export function Interrupts() {
  const t = useTexts();
  const { robot } = usePage();
  const whyNot = useWhyNot();
  return (
    <Panel title={t.title}>
      <Text size="sm" fw={500}>
        {t.running} ({robot.interrupts.length})
      </Text>
      {robot.interrupts.length === 0 && <Nothing>{t.noneRunning}</Nothing>}
      {robot.interrupts.map((i) => (
        <Group key={i.id} justify="space-between">
          <Stack gap={0}>
            <Text size="sm" title={i.id}>
              {t.one(i.handler, forWhomText(i.interrupter), clock(i.since))}
            </Text>
          </Stack>
          <ActionButton
            size="compact-md"
            whyNot={whyNot}
            sends={['interrupt/cancel', { id: i.id }, t.endLabel(i.handler)]}
          >
            {t.end}
          </ActionButton>
        </Group>
      ))}
      <Refused />
      <Raise />
      <Switches />
    </Panel>
  );
}

function Refused() {
  const t = useTexts();
  const reasons = useReasonTexts();
  const { id } = usePage();
  const events = useEvents(id, { type: 'interrupt_refused', limit: 5 }).data ?? [];
  return (
    <Stack gap={2}>
      <Text size="sm" fw={500}>
        {t.refused}
      </Text>
      {events.length === 0 && <Nothing>{t.noneRefused}</Nothing>}
      {events.map((e) => {
        const d = (e.data ?? {}) as {
          handler?: string;
          interrupter?: string;
          reason?: string;
          detail?: string;
          count?: number;
        };
        return (
          <Text key={`${e.boot} ${e.seq}`} size="sm" dir="auto">
            {clock(e.received)} {d.handler}, {whoText(d.interrupter)}: {reasonText(reasons, d.reason, d.detail)}
            {(d.count ?? 1) > 1 && `, ${t.times(d.count!)}`}
            <OwnSentence>{ownReason(reasons, d.reason, d.detail)}</OwnSentence>
          </Text>
        );
      })}
    </Stack>
  );
}

function Raise() {
  const t = useTexts();
  const { robot, detail } = usePage();
  const whyNot = useWhyNot();
  const [handler, setHandler] = useState<string | null>(null);
  const [interrupter, setInterrupter] = useState<string | null>('operator');
  const why = whyNot || (robot.mode !== 'ato' ? t.notInAto : !handler ? t.choose : '');
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {t.try}
      </Text>
      <Group align="flex-end" gap="xs">
        <Select
          label={t.handler}
          data={detail?.caps?.handlers ?? []}
          value={handler}
          onChange={setHandler}
          flex={1}
          miw={110}
        />
        <Select
          label={t.interrupter}
          data={(detail?.caps?.interrupters ?? ['operator']).map((value) => ({ value, label: whoText(value) }))}
          value={interrupter}
          onChange={setInterrupter}
          flex={1}
          miw={110}
          allowDeselect={false}
        />
        <ActionButton
          whyNot={why}
          sends={
            handler
              ? ['interrupt/request', { handler, interrupter: interrupter ?? undefined }, t.raiseLabel(handler)]
              : undefined
          }
        >
          {t.raise}
        </ActionButton>
      </Group>
    </Stack>
  );
}

function Switches() {
  const t = useTexts();
  const { detail } = usePage();
  const all = detail?.state?.interrupters ?? [];
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500}>
        {t.switches}
      </Text>
      {all.some((i) => i.state === 'halted') && <Nothing>{t.halted}</Nothing>}
      <Group gap="lg">
        {all.map((i) =>
          i.state === 'halted' ? (
            <Halted key={i.id} id={i.id} />
          ) : (
            <Toggle
              key={i.id}
              label={whoText(i.id)}
              on={i.state !== 'stopped'}
              whyNot={i.id === 'operator' && i.state !== 'stopped' ? t.always : ''}
              verb={i.state === 'stopped' ? 'interrupter/run' : 'interrupter/stop'}
              args={{ interrupter: i.id }}
              what={t.switchLabel(whoText(i.id), i.state === 'stopped')}
            />
          ),
        )}
      </Group>
    </Stack>
  );
}

/**
 * An interrupter while ato is not active. The robot reports halted whether it is on or off then,
 * so that a switch would show something that nobody knows.
 */
function Halted({ id }: { id: string }) {
  const t = useTexts();
  const whyNot = useWhyNot();
  const args = { interrupter: id };
  return (
    <Group gap={6} w="100%">
      <Text size="sm" flex={1}>
        {whoText(id)}
      </Text>
      <ActionButton
        size="compact-sm"
        whyNot={whyNot || (id === 'operator' ? t.always : '')}
        label={`${t.forbid}: ${whoText(id)}`}
        sends={['interrupter/stop', args, t.switchLabel(whoText(id), false)]}
      >
        {t.forbid}
      </ActionButton>
      <ActionButton
        size="compact-sm"
        whyNot={whyNot}
        label={`${t.allow}: ${whoText(id)}`}
        sends={['interrupter/run', args, t.switchLabel(whoText(id), true)]}
      >
        {t.allow}
      </ActionButton>
    </Group>
  );
}

/** A switch of the robot: it shows what the robot reports, not what was asked for. */
export function Toggle(p: {
  label: string;
  on: boolean;
  verb: Verb;
  args: Record<string, unknown>;
  what: string;
  whyNot?: string;
}) {
  const { id } = usePage();
  const send = useSend();
  const common = useWhyNot();
  const [busy, setBusy] = useState(false);
  const why = common || p.whyNot || '';
  return (
    <Tooltip label={why} disabled={!why}>
      <Switch
        label={p.label}
        data-line={verbLine(p.verb, p.args, [id])}
        data-what={p.what}
        checked={p.on}
        aria-disabled={!!why || undefined}
        styles={why ? { track: { opacity: 0.6 } } : undefined}
        disabled={busy}
        onChange={async () => {
          if (why) return;
          setBusy(true);
          await send(p.verb, p.args, p.what);
          setBusy(false);
        }}
      />
    </Tooltip>
  );
}
