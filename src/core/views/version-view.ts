import type { VersionDocument } from '../documents/version-document.ts'
import { terminalSafe } from './terminal-safe.ts'

export function renderVersion(view: VersionDocument): string {
  const { volctl, commit, node, platform, arch, kubernetes, server, kubelet } = view
  const { first, last } = kubernetes
  return [
    ['volctl', `${volctl} (commit ${commit})`],
    ['Node.js', node],
    ['Platform', `${platform}-${arch}`],
    ['Tested with', `kubelets ${first} to ${last}`],
    ['API server', server === undefined ? NOT_READ : `${server.version} (${server.address})`],
    ['Kubelet', kubelet === undefined ? NOT_READ : `${kubelet.version} (node ${kubelet.node})`],
  ]
    .map(([label, text]) => `${`${label}:`.padEnd(12)} ${terminalSafe(text ?? '')}\n`)
    .join('')
}

const NOT_READ = 'not read (volctl version -v says why)'
