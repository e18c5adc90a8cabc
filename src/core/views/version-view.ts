/** The answer of `volctl version`. */
export interface VersionView {
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

export function renderVersion({
  volctl,
  commit,
  node,
  platform,
  arch,
  kubernetes: { first, last },
}: VersionView): string {
  return [
    ['volctl', `${volctl} (commit ${commit})`],
    ['Node.js', node],
    ['Platform', `${platform}-${arch}`],
    ['Kubelets', `tested with ${first} to ${last}`],
  ]
    .map(([label, text]) => `${`${label}:`.padEnd(10)} ${text}\n`)
    .join('')
}
