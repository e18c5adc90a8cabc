import { terminalSafe } from '../core/base/terminal-safe.ts'
import { versionFlags } from '../core/cli/flags.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { TESTED_MINORS } from '../core/facts/actual/kubelet-version.ts'
import { inTime } from '../core/linux/deadline.ts'
import type { VersionsHere } from '../core/node/versions-here.ts'

/** Put in by the build (scripts/build.ts). */
declare const VOLCTL_COMMIT: string

/** For everything that is asked. */
const MOST_MS = 1000

/** What `volctl version -o json` prints. */
interface VersionDocument extends VersionsHere {
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
  static override summary =
    'Print the versions of volctl and its Node.js, of the API server, and of the kubelet on this node.'
  static override description =
    'The versions of the API server and of the kubelet are printed if the API server gives them within a second; without ' +
    'them volctl version does not fail. volctl was tested with the kubelets that are printed. Changes nothing.'
  static override usage = 'version [FLAGS]'
  static override examples = examples({
    'For a bug report:': '$ version',
    'For scripts:': '$ version -o json',
  })
  static override flags = versionFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Version)
    const { first, last } = TESTED_MINORS
    const { versionsHere } = await import('../core/node/versions-here.ts')
    const read = versionsHere({ ...flags, signal: AbortSignal.timeout(MOST_MS), log: this.detail })
    const late = (): Error => new Error('no answer within a second')
    // What does not answer in time is left out.
    const here = await inTime(read, MOST_MS, late).catch((error: Error) => this.detail(error.message))
    const version: VersionDocument = {
      apiVersion: 'volctl.io/v1',
      kind: 'Version',
      volctl: this.config.version,
      commit: VOLCTL_COMMIT,
      node: process.versions.node,
      platform: process.platform,
      arch: process.arch,
      kubernetes: { first: `1.${first}`, last: `1.${last}` },
      ...here,
    }
    await this.answer(version, flags.output, () => renderVersion(version))
  }
}

function renderVersion(view: VersionDocument): string {
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
