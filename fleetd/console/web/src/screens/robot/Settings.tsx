import { Badge, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';

import { problemOf } from '../../api/problem';
import { OwnSentence } from '../../live/OwnSentence';
import { texts } from '../../text/language';
import { ownReason, reasonText, useReasonTexts } from '../../text/reasons';
import { useSettingPurposes } from '../../text/settings';
import { dateTime } from '../../text/time';
import { ActionButton, useWhyNot } from './ActionButton';
import { Nothing, Panel } from './Panel';
import { usePage } from './page';
import { outside, SettingField, UnparsedJSON } from './SettingField';
import {
  type Desired,
  type Draft,
  type Reported,
  same,
  type Setting,
  type SettingState,
  settingState,
  useDesired,
  useSettingSchemas,
  valueText,
} from './settings';
import { SettingsReview } from './SettingsReview';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Settings',
    help: 'Settings that the fleet does not set are those of the robot: from its own file, or the default. fleetd keeps what you change, and the robot reports each setting that it has applied.',
    filter: 'Filter',
    hint: 'name or purpose',
    setting: 'Setting',
    desired: 'Desired',
    reported: 'Reported by the robot',
    ownValue: "the robot's own file or default",
    by: (who: string, at: string) => `by ${who}, ${at}`,
    states: {
      own: '',
      applied: 'applied',
      pending: 'not applied yet',
      restart: 'after the next start',
      rejected: 'refused',
      otherFleet: 'obeys another fleet',
    },
    restarts: 'in force after the next start',
    review: (n: number) => (n === 1 ? 'Review 1 change' : `Review ${n} changes`),
    discard: 'Discard',
    nothing: 'nothing was changed',
    bounds: (key: string) => `${key} is out of its bounds`,
    unread: (key: string) => `${key} is not JSON yet`,
  },
  {
    title: 'Einstellungen',
    help: 'Was die Flotte nicht setzt, ist Sache des Roboters: aus seiner eigenen Datei oder der Vorgabe. fleetd bewahrt auf, was Sie ändern, und der Roboter meldet jede Einstellung, die er angewendet hat.',
    filter: 'Filter',
    hint: 'Name oder Zweck',
    setting: 'Einstellung',
    desired: 'Verlangt',
    reported: 'Vom Roboter gemeldet',
    ownValue: 'eigene Datei des Roboters oder Vorgabe',
    by: (who: string, at: string) => `von ${who}, ${at}`,
    states: {
      own: '',
      applied: 'angewendet',
      pending: 'noch nicht angewendet',
      restart: 'nach dem nächsten Start',
      rejected: 'abgelehnt',
      otherFleet: 'gehorcht einer anderen Flotte',
    },
    restarts: 'gilt nach dem nächsten Start',
    review: (n: number) => (n === 1 ? '1 Änderung ansehen' : `${n} Änderungen ansehen`),
    discard: 'Verwerfen',
    nothing: 'nichts ist geändert',
    bounds: (key: string) => `${key} liegt außerhalb der Grenzen`,
    unread: (key: string) => `${key} ist noch kein JSON`,
  },
  {
    title: 'Réglages',
    help: 'Les réglages que la flotte ne fixe pas sont ceux du robot : de son propre fichier, ou par défaut. fleetd garde ce que vous changez, et le robot signale chaque réglage qu’il a appliqué.',
    filter: 'Filtre',
    hint: 'nom ou but',
    setting: 'Réglage',
    desired: 'Voulu',
    reported: 'Signalé par le robot',
    ownValue: 'du fichier du robot ou par défaut',
    by: (who, at) => `par ${who}, ${at}`,
    states: {
      own: '',
      applied: 'appliqué',
      pending: 'pas encore appliqué',
      restart: 'après le prochain démarrage',
      rejected: 'refusé',
      otherFleet: 'obéit à une autre flotte',
    },
    restarts: 'en vigueur après le prochain démarrage',
    review: (n) => (n === 1 ? 'Revoir 1 changement' : `Revoir ${n} changements`),
    discard: 'Rejeter',
    nothing: 'rien n’a été changé',
    bounds: (key) => `${key} est hors de ses limites`,
    unread: (key) => `${key} n’est pas encore du JSON`,
  },
);

const color: Record<SettingState, string> = {
  own: 'gray',
  applied: 'green',
  pending: 'blue',
  restart: 'yellow',
  rejected: 'red',
  otherFleet: 'red',
};

/** Every setting as a form, desired beside reported, with where each is from. */
export function Settings() {
  const t = useTexts();
  const common = useRobotTexts();
  const schemas = useSettingSchemas();
  const all = useDesired();
  const whyNot = useWhyNot('assign', true);
  const purposes: Record<string, string> = useSettingPurposes();
  const [draft, setDraft] = useState<Draft>(new Map());
  // Counts what ended a draft, as a key of the rows: their fields then forget the text that was typed.
  const [drafts, setDrafts] = useState(0);
  const endDraft = () => {
    setDraft(new Map());
    setDrafts((n) => n + 1);
  };
  const [text, setText] = useState('');
  const [reviewing, setReviewing] = useState(false);
  const document = all.data?.desired.find((d) => d.topic === 'desired_config');
  const desired = document?.desired as Desired | undefined;
  const reported = document?.reported as Reported | undefined;
  const edit = (key: string, value: unknown) => {
    const next = new Map(draft);
    if (same(value, desired?.values[key])) next.delete(key);
    else next.set(key, value);
    setDraft(next);
  };
  const wanted = text.trim().toLowerCase();
  // What the fleet sets comes first.
  const own = ([key]: [string, Setting]) => (desired && key in desired.values ? 0 : 1);
  const sorted = [...(schemas.data ?? [])].sort((a, b) => own(a) - own(b));
  const rows = sorted.filter(([key, s]) => `${key} ${purposes[key] ?? s.description}`.toLowerCase().includes(wanted));
  const wrong = schemas.data?.find(([key, s]) => draft.has(key) && outside(draft.get(key), s));
  const wrongText = wrong && (draft.get(wrong[0]) instanceof UnparsedJSON ? t.unread : t.bounds)(wrong[0]);
  const failed = schemas.error ?? all.error;
  return (
    <Panel
      title={t.title}
      aside={
        <Group gap="xs">
          <ActionButton whyNot={draft.size > 0 ? '' : t.nothing} onClick={endDraft}>
            {t.discard}
          </ActionButton>
          <ActionButton
            variant="filled"
            whyNot={whyNot || (draft.size === 0 ? t.nothing : (wrongText ?? ''))}
            onClick={() => setReviewing(true)}
          >
            {t.review(draft.size)}
          </ActionButton>
        </Group>
      }
    >
      <Text size="sm" c="dimmed">
        {t.help}
      </Text>
      {document?.overtaken && (
        <Text size="sm" c="red">
          {common.overtaken}: {document.overtaken}
        </Text>
      )}
      <TextInput
        label={t.filter}
        placeholder={t.hint}
        data-filter
        value={text}
        onChange={(e) => setText(e.currentTarget.value)}
      />
      {(schemas.isPending || all.isPending) && <Nothing>{common.loading}</Nothing>}
      {failed && <Text size="sm">{problemOf(failed).message}</Text>}
      {schemas.data && all.data && (
        <Table verticalSpacing="xs" layout="fixed" data-testid="settings" className="stacked">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.setting}</Table.Th>
              <Table.Th>{t.desired}</Table.Th>
              <Table.Th>{t.reported}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([key, s]) => (
              <Row
                key={`${key} ${drafts}`}
                name={key}
                schema={s}
                desired={desired}
                reported={reported}
                changed={draft.has(key)}
                value={draft.has(key) ? draft.get(key) : desired?.values[key]}
                disabled={!!whyNot}
                onChange={(v) => edit(key, v)}
              />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {reviewing && (
        <SettingsReview
          draft={draft}
          desired={desired}
          reported={reported}
          schemas={new Map(schemas.data)}
          onClose={() => setReviewing(false)}
          onApplied={() => {
            endDraft();
            setReviewing(false);
            void all.refetch();
          }}
        />
      )}
    </Panel>
  );
}

function Row(p: {
  name: string;
  schema: Setting;
  desired?: Desired;
  reported?: Reported;
  changed: boolean;
  value: unknown;
  disabled: boolean;
  onChange: (v: unknown) => void;
}) {
  const t = useTexts();
  const reasons = useReasonTexts();
  const purposes: Record<string, string> = useSettingPurposes();
  const { robot } = usePage();
  const state = settingState(p.name, p.desired, p.reported);
  const refused = p.reported?.rejected?.find((r) => r.key === p.name);
  const inForce = p.reported?.applied?.[p.name];
  return (
    <Table.Tr data-changed={p.changed || undefined} data-setting={p.name}>
      <Table.Td style={{ verticalAlign: 'top' }}>
        <Stack gap={2}>
          <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
            {p.name}
          </Text>
          <Text size="xs" c="dimmed">
            {purposes[p.name] ?? p.schema.description}
          </Text>
          {p.schema['x-restart'] && (
            <Text size="xs" c="dimmed" fs="italic">
              {t.restarts}
            </Text>
          )}
        </Stack>
      </Table.Td>
      <Table.Td style={{ verticalAlign: 'top' }}>
        <SettingField name={p.name} schema={p.schema} value={p.value} disabled={p.disabled} onChange={p.onChange} />
        {p.desired && p.name in p.desired.values && (
          <Text size="xs" c="dimmed" dir="auto">
            {t.by(p.desired.by || 'fleetd', dateTime(p.desired.ts))}
          </Text>
        )}
      </Table.Td>
      <Table.Td style={{ verticalAlign: 'top' }} data-label={t.reported}>
        <Stack gap={2} align="flex-start">
          <Text size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }} c={state === 'own' ? 'dimmed' : undefined}>
            {state === 'own' ? t.ownValue : valueText(inForce) || '–'}
          </Text>
          {state !== 'own' && (
            <Badge variant="light" color={color[state]} tt="none">
              {t.states[state]}
            </Badge>
          )}
          {state === 'rejected' && refused && (
            <Text size="xs" dir="auto">
              {reasonText(reasons, refused.reason, refused.detail)}
              <OwnSentence>{ownReason(reasons, refused.reason, refused.detail)}</OwnSentence>
            </Text>
          )}
          {state === 'pending' && p.reported?.reason && robot.adopted && (
            <Text size="xs" dir="auto">
              {reasonText(reasons, p.reported.reason, p.reported.detail)}
              <OwnSentence>{ownReason(reasons, p.reported.reason, p.reported.detail)}</OwnSentence>
            </Text>
          )}
        </Stack>
      </Table.Td>
    </Table.Tr>
  );
}
