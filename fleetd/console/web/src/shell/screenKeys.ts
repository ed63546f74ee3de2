import { useEffect } from 'react';
import { create } from 'zustand';

/** Keys of the screen that is open, each with what it does. */
export interface ScreenKeys {
  title: string;
  keys: readonly (readonly string[])[];
}

export const useKeysOfScreen = create<{ of?: ScreenKeys }>()(() => ({}));

/** Lists the keys of a screen in the dialog of shortcuts while the screen is open. */
export function useScreenKeys(title: string, keys: ScreenKeys['keys']): void {
  useEffect(() => {
    useKeysOfScreen.setState({ of: { title, keys } });
    return () => useKeysOfScreen.setState({ of: undefined });
  }, [title, keys]);
}
