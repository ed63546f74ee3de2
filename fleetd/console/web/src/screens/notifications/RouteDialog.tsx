import { Checkbox, Group, MultiSelect, NativeSelect, NumberInput, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';

import { useSites } from '../../live/robots';
import { useAlertWords } from '../../text/alerts';
import { useEventWords } from '../../text/events';
import { putRoute, type Route, routeLines, useReceivers } from './api';
import { bodyOf, formOf, type RouteForm } from './routeForm';
import { FormDialog } from './FormDialog';
import { useNotificationsTexts } from './text';

/** The form of a route. */
export function RouteDialog({ of, onClose }: { of?: Route; onClose: () => void }) {
  const t = useNotificationsTexts();
  const receivers = (useReceivers().data ?? []).map((r) => r.id);
  const sites = useSites();
  const alerts = Object.entries(useAlertWords()).map(([value, w]) => ({ value, label: `${w.title} (${value})` }));
  const events = Object.entries(useEventWords()).map(([value, w]) => ({
    value,
    label: `${w.replaceAll('`', '')} (${value})`,
  }));
  const [id, setID] = useState(of?.id ?? '');
  const [form, setForm] = useState(() => formOf(of, ''));
  const put = <K extends keyof RouteForm>(name: K, value: RouteForm[K]) => setForm((f) => ({ ...f, [name]: value }));
  const body = bodyOf({ ...form, receiver: form.receiver || receivers[0] || '' });
  const levels = Object.entries(t.levels).map(([value, label]) => ({ value, label }));
  return (
    <FormDialog
      title={t.routeTitle(of?.id ?? '')}
      id={id}
      onID={of ? undefined : setID}
      put={(name) => putRoute(name, body)}
      lines={(name) => routeLines(name, body)}
      onClose={onClose}
    >
      <NativeSelect
        label={t.receiver}
        value={form.receiver || receivers[0] || ''}
        data={receivers}
        onChange={(e) => put('receiver', e.currentTarget.value)}
      />
      <MultiSelect
        label={t.alerts}
        description={t.alertsHelp}
        data={[{ value: 'all', label: t.all }, ...alerts]}
        value={form.alerts}
        searchable
        onChange={(v) => put('alerts', v)}
      />
      <MultiSelect label={t.events} data={events} value={form.events} searchable onChange={(v) => put('events', v)} />
      <Group grow align="flex-start">
        <NativeSelect
          label={t.level}
          value={form.level}
          data={levels}
          onChange={(e) => put('level', e.currentTarget.value)}
        />
        <TagsInput
          label={t.sites}
          description={t.sitesHelp}
          value={form.sites}
          data={sites}
          acceptValueOnBlur
          onChange={(v) => put('sites', v)}
        />
      </Group>
      <Textarea
        label={t.quiet}
        description={t.quietHelp}
        value={form.spans}
        autosize
        dir="ltr"
        onChange={(e) => put('spans', e.currentTarget.value)}
      />
      {form.spans.trim() && (
        <Group grow>
          <TextInput label={t.zone} value={form.zone} onChange={(e) => put('zone', e.currentTarget.value)} />
          <NativeSelect
            label={t.through}
            value={form.through}
            data={[{ value: '', label: t.throughNone }, ...levels.filter((l) => l.value !== 'info')]}
            onChange={(e) => put('through', e.currentTarget.value)}
          />
        </Group>
      )}
      <Group grow align="flex-start">
        <NumberInput
          label={t.group}
          value={form.groupS}
          min={0}
          max={3600}
          onChange={(v) => put('groupS', Number(v))}
        />
        <NumberInput
          label={t.repeat}
          description={t.repeatHelp}
          value={form.repeatMin}
          min={0}
          max={43200}
          onChange={(v) => put('repeatMin', Number(v))}
        />
      </Group>
      <Group grow align="flex-start">
        <NativeSelect
          label={t.escalate}
          value={form.escalateTo}
          data={[{ value: '', label: t.nobody }, ...receivers.filter((r) => r !== body.receiver)]}
          onChange={(e) => put('escalateTo', e.currentTarget.value)}
        />
        {form.escalateTo && (
          <NumberInput
            label={t.after}
            value={form.escalateMin}
            min={1}
            max={10080}
            onChange={(v) => put('escalateMin', Number(v))}
          />
        )}
      </Group>
      <Checkbox label={t.resolved} checked={form.resolved} onChange={(e) => put('resolved', e.currentTarget.checked)} />
      <Checkbox label={t.enabled} checked={form.enabled} onChange={(e) => put('enabled', e.currentTarget.checked)} />
    </FormDialog>
  );
}
