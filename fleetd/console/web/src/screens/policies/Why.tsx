import { Anchor, Badge, Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { lineOf } from '../../api/lines';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { dateTime } from '../../text/time';
import { ActionButton, useWhyNot } from '../robot/ActionButton';
import { Nothing, Panel } from '../robot/Panel';
import { usePage } from '../robot/page';
import { type Kind, useContentText, useKindNames } from '../rollouts/contentText';
import { type Reason, useReasons } from './api';
import { usePoliciesTexts } from './text';

/** What the robot of the page shall have of each kind, or of one, and who or what decides that. */
export function Why({ only }: { only?: Kind }) {
  const t = usePoliciesTexts();
  const { id } = usePage();
  const asked = useReasons(id);
  const rows = (asked.data ?? []).filter((r) => !only || r.kind === only);
  return (
    <Panel title={t.why} aside={<CommandLine compact lines={[`fleetd robot why ${id}`]} />}>
      {!only && <Nothing>{t.whyAbout}</Nothing>}
      {asked.isError && <Refused error={asked.error} onRetry={() => void asked.refetch()} />}
      {rows.map((r) => (
        <One key={r.kind} of={r} />
      ))}
    </Panel>
  );
}

function One({ of: r }: { of: Reason }) {
  const t = usePoliciesTexts();
  const names = useKindNames();
  const said = useContentText();
  const { id } = usePage();
  const whyNot = useWhyNot('assign', true);
  const [asking, ask] = useState(false);
  const decided =
    r.decided_by === 'policy' ? (
      <Anchor component={Link} to={`/policies/${encodeURIComponent(r.policy ?? '')}`} size="sm">
        {t.by.policy(r.policy ?? '')}
      </Anchor>
    ) : (
      t.by[r.decided_by]
    );
  return (
    <Group justify="space-between" align="flex-start" wrap="nowrap" data-testid={`why-${r.kind}`}>
      <Stack gap={2} miw={0}>
        <Group gap="xs">
          <Text size="sm" fw={500}>
            {names[r.kind]}
          </Text>
          {r.pin && (
            <Badge variant="light" color="violet" tt="none">
              {t.isPinned}
            </Badge>
          )}
        </Group>
        <Text size="sm" dir="auto" className="any-text">
          {r.has ? said(r.has) : t.nothing}
        </Text>
        <List size="sm">
          <List.Item>
            {decided}
            {r.pin &&
              ` (${t.pinnedBy(r.pin.by || t.somebody, dateTime(r.pin.at))}${r.pin.why ? `: ${r.pin.why}` : ''})`}
          </List.Item>
          {r.differs && r.says && (
            <List.Item>
              <span dir="auto" className="any-text">
                {t.differs(said(r.says))}
              </span>
            </List.Item>
          )}
          {r.losers.map((l) => (
            <List.Item key={l.policy}>
              <span dir="auto" className="any-text">
                {t.loser(l.policy, l.why)}
              </span>
            </List.Item>
          ))}
        </List>
      </Stack>
      <ActionButton whyNot={whyNot} onClick={() => ask(true)} label={`${r.pin ? t.unpin : t.pin} ${names[r.kind]}`}>
        {r.pin ? t.unpin : t.pin}
      </ActionButton>
      {asking && <PinDialog robot={id} of={r} onClose={() => ask(false)} />}
    </Group>
  );
}

function PinDialog({ robot, of: r, onClose }: { robot: string; of: Reason; onClose: () => void }) {
  const t = usePoliciesTexts();
  const names = useKindNames();
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const why = text.trim() || undefined;
  const path = { id: robot, kind: r.kind };
  const change = useMutation<unknown>({
    mutationFn: () =>
      r.pin
        ? data(api.DELETE('/api/v1/robots/{id}/pins/{kind}', { params: { path, query: { why } } }))
        : data(api.PUT('/api/v1/robots/{id}/pins/{kind}', { params: { path }, body: { why } })),
    onSuccess: async () => {
      notifications.show({ message: r.pin ? t.unpinAccepted : t.pinAccepted });
      await queries.invalidateQueries({ queryKey: ['policies'] });
      onClose();
    },
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={(r.pin ? t.unpinTitle : t.pinTitle)(names[r.kind], robot)}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          change.mutate();
        }}
      >
        <Stack>
          <Text>{r.pin ? t.unpinHelp : t.pinHelp}</Text>
          <TextInput
            label={t.reason}
            value={text}
            maxLength={256}
            data-autofocus
            onChange={(e) => setText(e.currentTarget.value)}
          />
          {change.isError && <Refused error={change.error} />}
          <Group justify="flex-end">
            <CommandLine
              lines={[
                r.pin ? lineOf('remove-pin', { path, query: { why } }) : lineOf('set-pin', { path, body: { why } }),
              ]}
            />
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" loading={change.isPending}>
              {r.pin ? t.unpinNow : t.pinNow}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
