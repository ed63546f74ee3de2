import { Button, Code, Modal, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { addressOf } from '../../base';
import { Problem } from '../../api/problem';
import { useLive } from '../../live/stream';
import { ListState } from '../../shell/ListState';
import { Facts } from './Facts';
import { Rows } from './Rows';
import { useAdminTexts } from './text';

/** A part that somebody else wrote, as the build lists it. */
interface Part {
  name: string;
  version: string;
  identifier: string | null;
  text: string | null;
}

async function listOf(file: string): Promise<Part[]> {
  const answer = await fetch(addressOf(file));
  if (!answer.ok || !answer.headers.get('content-type')?.includes('json')) throw await Problem.of(answer);
  return (await answer.json()) as Part[];
}

/** Which fleetd this is, and the licences of the parts that it is built of. */
export function About() {
  const t = useAdminTexts();
  const s = useLive((l) => l.fleetd);
  const [open, setOpen] = useState<Part>();
  const list = useQuery({
    queryKey: ['licences'],
    queryFn: async () => (await Promise.all(['/licences-go.json', '/licences-npm.json'].map(listOf))).flat(),
    staleTime: Infinity,
  });
  return (
    <Stack gap="xl">
      <Facts
        label={t.tabs.about}
        rows={[
          [t.version, s?.version],
          [t.updating, t.updatingHelp],
          [t.fleet, s?.fleet_id],
        ]}
      />
      <Stack gap="xs" component="section" aria-labelledby="licences">
        <Title order={2} size="h4" id="licences">
          {t.licences}
        </Title>
        <Text size="sm" c="dimmed">
          {t.licencesHelp}
        </Text>
        <ListState of={list} rows={list.data?.length ?? 0} empty={t.noLicences} />
        <Rows
          label={t.licences}
          rows={list.data ?? []}
          keyOf={(p) => `${p.name} ${p.version}`}
          columns={[
            { head: t.part, cell: (p) => <span className="any-text">{p.name}</span> },
            { head: t.version, cell: (p) => p.version },
            {
              head: t.licence,
              cell: (p) => (
                <Button
                  size="xs"
                  variant="default"
                  maw={{ base: 150, sm: 'none' }}
                  aria-label={t.licenceOf(p.name)}
                  onClick={() => setOpen(p)}
                >
                  {p.identifier ?? '–'}
                </Button>
              ),
            },
          ]}
        />
      </Stack>
      {open && (
        <Modal
          opened
          onClose={() => setOpen(undefined)}
          title={t.licenceOf(open.name)}
          size="xl"
          closeButtonProps={{ 'aria-label': t.close }}
        >
          <Code block className="licence" tabIndex={0}>
            {open.text}
          </Code>
        </Modal>
      )}
    </Stack>
  );
}
