/** A trigger whose requests are signed with a secret that is none. */

import type { TriggerDefinition } from '../../../packages/copse/src/intake/rules/trigger.ts';
import { type AgentName, brand } from '../../../packages/copse/src/kernel/ids.ts';

export const secret = 'not a real secret';

export const usual: TriggerDefinition = {
  name: 'deploy',
  agent: brand<AgentName>('coder'),
  type: 'hmac',
  secret: { variable: 'HOOK_SECRET' },
  workSource: null,
  prompt: 'Look at the deployment',
};
