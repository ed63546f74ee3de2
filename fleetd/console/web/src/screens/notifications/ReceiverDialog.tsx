import { NativeSelect, PasswordInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';

import { putReceiver, type Receiver, type ReceiverBody, receiverLines } from './api';
import { FormDialog } from './FormDialog';
import { useNotificationsTexts } from './text';

type Kind = Receiver['kind'];
type Secret = 'hmac_key' | 'password' | 'token';

const secretsOf: Record<Kind, Secret[]> = {
  webhook: ['hmac_key', 'token'],
  email: ['password'],
  alertmanager: ['token'],
  ntfy: ['token'],
  slack: ['token'],
};

/** The form of a receiver. Secrets that are left empty stay as they are. */
export function ReceiverDialog({ of, onClose }: { of?: Receiver; onClose: () => void }) {
  const t = useNotificationsTexts();
  const [id, setID] = useState(of?.id ?? '');
  const [kind, setKind] = useState<Kind>(of?.kind ?? 'ntfy');
  const [values, setValues] = useState({
    url: of?.url ?? '',
    topic: of?.topic ?? '',
    server: of?.server ?? '',
    tls: of?.tls ?? 'starttls',
    user: of?.user ?? '',
    from: of?.from ?? '',
    to: (of?.to ?? []).join('\n'),
    language: of?.language ?? 'en',
    hmac_key: '',
    password: '',
    token: '',
  });
  const put = (name: keyof typeof values) => (e: { currentTarget: { value: string } }) => {
    const { value } = e.currentTarget;
    setValues((v) => ({ ...v, [name]: value }));
  };
  const mail = kind === 'email';
  const set = (text: string) => text.trim() || undefined;
  const body: ReceiverBody = {
    kind,
    ...(mail
      ? {
          server: set(values.server),
          tls: values.tls,
          user: set(values.user),
          from: set(values.from),
          to: values.to.split(/[\s,]+/).filter(Boolean),
        }
      : { url: set(values.url) }),
    ...(kind === 'ntfy' ? { topic: set(values.topic) } : {}),
    language: values.language,
    ...Object.fromEntries(secretsOf[kind].flatMap((s) => (values[s] ? [[s, values[s]]] : []))),
  } as ReceiverBody;
  return (
    <FormDialog
      title={t.receiverTitle(of?.id ?? '')}
      id={id}
      onID={of ? undefined : setID}
      put={(name) => putReceiver(name, body)}
      lines={(name) => receiverLines(name, body)}
      onClose={onClose}
    >
      <NativeSelect
        label={t.kind}
        value={kind}
        data={Object.entries(t.kinds).map(([value, label]) => ({ value, label }))}
        onChange={(e) => setKind(e.currentTarget.value as Kind)}
      />
      {mail ? (
        <>
          <TextInput
            label={t.server}
            placeholder="mail.example:587"
            required
            value={values.server}
            onChange={put('server')}
            dir="ltr"
          />
          <NativeSelect
            label={t.tls}
            value={values.tls}
            data={Object.entries(t.tlsKinds).map(([value, label]) => ({ value, label }))}
            onChange={put('tls')}
          />
          <TextInput label={t.user} value={values.user} onChange={put('user')} autoComplete="off" dir="ltr" />
        </>
      ) : (
        <TextInput
          label={t.url}
          description={t.urlHelp}
          placeholder="https://"
          required
          value={values.url}
          onChange={put('url')}
          dir="ltr"
        />
      )}
      {kind === 'ntfy' && <TextInput label={t.topic} required value={values.topic} onChange={put('topic')} dir="ltr" />}
      {secretsOf[kind].map((s) => (
        <PasswordInput
          key={s}
          label={t.secret[s]}
          description={of?.secrets.includes(s) ? t.secretSet : t.secretHelp}
          value={values[s]}
          autoComplete="new-password"
          onChange={put(s)}
        />
      ))}
      {mail && (
        <>
          <TextInput label={t.from} required value={values.from} onChange={put('from')} dir="ltr" />
          <Textarea label={t.to} description={t.toHelp} required value={values.to} onChange={put('to')} dir="ltr" />
        </>
      )}
      <NativeSelect
        label={t.language}
        value={values.language}
        data={Object.entries(t.languages).map(([value, label]) => ({ value, label }))}
        onChange={put('language')}
      />
    </FormDialog>
  );
}
