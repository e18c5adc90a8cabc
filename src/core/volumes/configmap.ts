/** configMap: files on the kubelet's own disk (P46, P47). */
import { atomicPlugin } from './atomic-writer.ts'

export const configMap = atomicPlugin({
  name: 'kubernetes.io/configmap',
  source: 'configMap',
  medium: 'disk',
  content: 'the keys of a ConfigMap',
})
