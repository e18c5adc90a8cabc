import { versionFlags } from '../core/cli/flags.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { TESTED_MINORS } from '../core/facts/actual/kubelet-version.ts'

/** Put in by the build (scripts/build.ts). */
declare const VOLCTL_COMMIT: string

/** What `volctl version -o json` prints. */
interface VersionDocument {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Version'
  readonly volctl: string
  /** Of the build; `unknown` where the source names none, with `-dirty` where files differ from it. */
  readonly commit: string
  /** Version of the Node.js that runs volctl. */
  readonly node: string
  readonly platform: string
  readonly arch: string
  /** Versions of the kubelets that volctl was tested with. */
  readonly kubernetes: { readonly first: string; readonly last: string }
}

export default class Version extends VolctlCommand {
  static override readonly looks = false
  static override summary = 'Print the versions of volctl and its Node.js, and of the kubelets that it was tested with.'
  static override description =
    'Nothing is looked at and nobody is asked: volctl doctor says which kubelet runs here. Changes nothing.'
  static override usage = 'version [FLAGS]'
  static override examples = examples({
    'For a bug report:': '$ version',
    'For scripts:': '$ version -o json',
  })
  static override flags = versionFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Version)
    const { first, last } = TESTED_MINORS
    const version: VersionDocument = {
      apiVersion: 'volctl.io/v1',
      kind: 'Version',
      volctl: this.config.version,
      commit: VOLCTL_COMMIT,
      node: process.versions.node,
      platform: process.platform,
      arch: process.arch,
      kubernetes: { first: `1.${first}`, last: `1.${last}` },
    }
    await this.answer(version, flags.output, () => renderVersion(version))
  }
}

function renderVersion({ volctl, commit, node, platform, arch, kubernetes }: VersionDocument): string {
  const { first, last } = kubernetes
  return [
    ['volctl', `${volctl} (commit ${commit})`],
    ['Node.js', node],
    ['Platform', `${platform}-${arch}`],
    ['Tested with', `kubelets ${first} to ${last}`],
  ]
    .map(([label, text]) => `${`${label}:`.padEnd(12)} ${text}\n`)
    .join('')
}
