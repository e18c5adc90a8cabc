import type { VersionsHere } from '../node/versions-here.ts'
import { terminalSafe } from './terminal-safe.ts'

/** The answer of `volctl version`. */
export interface VersionView extends VersionsHere {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Version'
  readonly volctl: string
  /** The commit of the build; `unknown` where the source names none, with `-dirty` where files differ from it. */
  readonly commit: string
  /** Of the Node.js that runs volctl. */
  readonly node: string
  readonly platform: string
  readonly arch: string
  /** Oldest and newest minor version of the kubelets that volctl was tested with. */
  readonly kubernetes: { readonly first: string; readonly last: string }
}

export function renderVersion(view: VersionView): string {
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
