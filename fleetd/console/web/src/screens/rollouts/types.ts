import type { Schemas } from '../../api/client';

export type Summary = Schemas['RolloutSummary'];
export type Detail = Schemas['RolloutDetail'];
export type Wave = Schemas['RolloutWave'];
export type Plan = Schemas['RolloutPlan'];
export type NewRollout = Schemas['NewRollout'];
export type Spec = Schemas['RolloutSpec'];
export type WaveSpec = Schemas['RolloutWaveSpec'];
export type Content = Schemas['ContentContent'];
export type RobotRow = Schemas['RolloutRobot'];
export type State = Summary['state'];
export type WaveState = Wave['state'];
export type RobotState = RobotRow['state'];
