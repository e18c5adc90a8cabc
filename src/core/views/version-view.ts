/** The answer of `volctl version`. */
export interface VersionView {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Version'
  readonly volctl: string
  /** Of the Node.js that runs volctl. */
  readonly node: string
  readonly platform: string
  readonly arch: string
  /** Oldest and newest minor version of the kubelets that volctl was tested with. */
  readonly kubernetes: { readonly first: string; readonly last: string }
}

export function renderVersion({ volctl, node, platform, arch, kubernetes: { first, last } }: VersionView): string {
  return [
    ['volctl', volctl],
    ['Node.js', node],
    ['Platform', `${platform}-${arch}`],
    ['Kubelets', `tested with ${first} to ${last}`],
  ]
    .map(([label, text]) => `${`${label}:`.padEnd(10)} ${text}\n`)
    .join('')
}
