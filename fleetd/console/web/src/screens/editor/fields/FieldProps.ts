import type { Names } from '../names';
import type { Schema } from '../schemas';

/** What the input for a field is given. */
export interface FieldProps {
  name: string;
  root: Schema;
  schema: Schema;
  value: unknown;
  required?: boolean;
  /** The fields beside it. */
  values: Record<string, unknown>;
  names: Names;
  disabled: boolean;
  onChange: (value: unknown) => void;
}
