/** downwardAPI: fields and resources of the pod, in a tmpfs (P50). */
import { atomicPlugin } from './atomic-writer.ts'

export const downwardApi = atomicPlugin({
  name: 'kubernetes.io/downward-api',
  source: 'downwardAPI',
  medium: 'memory',
  content: "the pod's own fields and resources",
})
