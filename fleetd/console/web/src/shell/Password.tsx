import { PasswordInput, type PasswordInputProps } from '@mantine/core';

import { useShellTexts } from './text';

/** A password, which can be shown. */
export function Password(props: PasswordInputProps) {
  const t = useShellTexts();
  return <PasswordInput maxLength={256} visibilityToggleButtonProps={{ 'aria-label': t.showPassword }} {...props} />;
}
