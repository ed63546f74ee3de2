import { Alert, Button, Group, Text } from '@mantine/core';
import { IconShieldCheck, IconShieldX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import { Refused } from '../../shell/Refused';
import { useAuditTexts } from './text';

/** Whether the chain of hashes holds, when somebody asks. */
export function Verify() {
  const t = useAuditTexts();
  const check = useMutation({ mutationFn: () => data(api.GET('/api/v1/audit/verify')) });
  const v = check.data;
  return (
    <>
      <Group gap="sm">
        <Button
          variant="default"
          leftSection={<IconShieldCheck size={18} aria-hidden />}
          loading={check.isPending}
          onClick={() => check.mutate()}
        >
          {t.verify}
        </Button>
        <Text size="sm" c="dimmed" maw={520}>
          {t.verifyHelp}
        </Text>
      </Group>
      {check.isError && <Refused error={check.error} />}
      {v && (
        <Alert
          role="status"
          color={v.holds ? 'green' : 'red'}
          icon={v.holds ? <IconShieldCheck aria-hidden /> : <IconShieldX aria-hidden />}
          title={v.broken ? t.broken(v.broken.seq) : t.holds(v.rows)}
        >
          {v.broken && <Text size="sm">{v.broken.why}</Text>}
          {v.pruned ? <Text size="sm">{t.pruned(v.pruned)}</Text> : null}
          {v.holds && v.head.seq > 0 && (
            <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
              {t.head}: {v.head.seq}:{v.head.hash}
            </Text>
          )}
        </Alert>
      )}
    </>
  );
}
