/** A node whose one volume is written again and again, by a process that is killed. */
import { LiveNode, POD } from '../../helpers/live-node.ts'

/** Of the ConfigMap that every volume here is of. */
export function setData(node: LiveNode, data: Record<string, string>): void {
  const metadata = { namespace: 'default', name: 'cm', uid: 'u' }
  node.configMaps.splice(0, 1, { metadata, data, binaryData: { bin: 'AAEC' } })
}

export function writing(directory: string): LiveNode {
  const node = new LiveNode(directory)
  const items = Object.keys(content(0)).map((key) => ({ key, path: key }))
  node.pod(POD, 'app', [{ name: 'conf', configMap: { name: 'cm', items } }])
  return node
}

/** Forty files of one text. */
export function content(round: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, `${round}`.padStart(2000, '.')]))
}
