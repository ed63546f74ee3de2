import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { QRCodeSVG } from 'qrcode.react';
import { type FormEvent, useState } from 'react';

import { api, data, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useRobots } from '../../live/robots';
import { CommandLine } from '../../shell/CommandLine';
import { dateTime } from '../../text/time';
import { CopyLine } from './CopyLine';
import { Refused } from '../../shell/Refused';
import { useAdminTexts } from './text';

/** Makes the line that a person types on a new robot. */
export function Enrol() {
  const t = useAdminTexts();
  const robots = new Set(useRobots().map((r) => r.id));
  const [robot, setRobot] = useState('');
  const [serial, setSerial] = useState('');
  const [made, setMade] = useState<Schemas['EnrolmentToken'] & { known: boolean }>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const valid = /^[a-z0-9-]+$/.test(robot);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    setMade(undefined);
    try {
      const params = { path: { id: robot } };
      const token = await data(
        api.POST('/api/v1/robots/{id}/tokens', { params, body: { serial: serial || undefined } }),
      );
      setMade({ ...token, known: robots.has(robot) });
    } catch (thrown) {
      setError(thrown);
    }
    setBusy(false);
  };
  return (
    <Stack maw={720}>
      <Text size="sm">{t.enrolHelp}</Text>
      <form onSubmit={(e) => void submit(e)}>
        <Stack align="flex-start">
          <TextInput
            label={t.robot}
            description={t.robotHelp}
            value={robot}
            onChange={(e) => setRobot(e.currentTarget.value.toLowerCase())}
            pattern="[a-z0-9\-]+"
            maxLength={63}
            w={{ base: '100%', xs: 320 }}
            required
          />
          <TextInput
            label={t.serial}
            value={serial}
            onChange={(e) => setSerial(e.currentTarget.value)}
            maxLength={64}
            w={{ base: '100%', xs: 320 }}
          />
          <Group>
            <Button type="submit" loading={busy} disabled={!valid}>
              {t.makeEnrol}
            </Button>
            {valid && (
              <CommandLine
                lines={[lineOf('make-enrolment-token', { path: { id: robot }, body: { serial: serial || undefined } })]}
              />
            )}
          </Group>
        </Stack>
      </form>
      {error !== undefined && <Refused error={error} />}
      {made && (
        <Alert title={t.paste} role="status">
          <CopyLine text={made.line} />
          <Group mt="md" align="flex-start">
            <div className="qr">
              <QRCodeSVG value={made.line} size={220} marginSize={4} title={t.qr(made.robot)} />
            </div>
            <Stack gap="xs" maw={360}>
              <Text size="sm">{t.qrHelp}</Text>
              <Text size="sm">
                {t.until} {dateTime(made.expires)}
              </Text>
              <Text size="sm" role="status" data-testid="enrolled">
                {made.known
                  ? t.isKnown(made.robot)
                  : robots.has(made.robot)
                    ? t.isThere(made.robot)
                    : t.waitsFor(made.robot)}
              </Text>
            </Stack>
          </Group>
        </Alert>
      )}
    </Stack>
  );
}
