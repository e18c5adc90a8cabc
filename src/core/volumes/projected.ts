/** projected: several sources, tokens and trust bundles among them, in one tmpfs (P51-P56). */
import { atomicPlugin } from './atomic-writer.ts'

export const projected = atomicPlugin({
  name: 'kubernetes.io/projected',
  source: 'projected',
  medium: 'memory',
  content: 'config maps, secrets, fields of the pod, service account tokens and trust bundles',
})
