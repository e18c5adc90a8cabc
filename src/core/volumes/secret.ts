/** secret: files in a tmpfs (P48, P49). */
import { atomicPlugin } from './atomic-writer.ts'

export const secret = atomicPlugin({
  name: 'kubernetes.io/secret',
  source: 'secret',
  medium: 'memory',
  content: 'the keys of a Secret',
})
