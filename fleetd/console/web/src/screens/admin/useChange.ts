import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

/** Sends a change, says that it was accepted, and reads the list again. */
export function useChange(list: string) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const change = async (accepted: string, send: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      await send();
      notifications.show({ message: accepted });
      return true;
    } catch (thrown) {
      setError(thrown);
      return false;
    } finally {
      await client.invalidateQueries({ queryKey: [list] });
      setBusy(false);
    }
  };
  return { change, error, busy };
}
