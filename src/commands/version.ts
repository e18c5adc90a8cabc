import { type OutputFormat, outputFlag, VolctlCommand } from '../core/cli/volctl-command.ts'
import { TESTED_MINORS } from '../core/reconcile/obstacles/kubelet-version.ts'
import { renderVersion, type VersionView } from '../core/views/version-view.ts'

/** Put in by the build (scripts/build.ts). */
declare const VOLCTL_COMMIT: string

export default class Version extends VolctlCommand {
  static override summary = 'Print the version of volctl, and of the Node.js that runs volctl.'
  static override description =
    'Reads neither the node nor the API server. volctl doctor prints the version of the kubelet on this node; volctl was ' +
    'tested with kubelets of the versions that are printed here.'
  static override usage = 'version [FLAGS]'
  static override examples = [
    { description: 'For a bug report:', command: '<%= config.bin %> version' },
    { description: 'For scripts:', command: '<%= config.bin %> version -o json' },
  ]
  static override flags = { output: outputFlag() }

  async run(): Promise<void> {
    const { flags } = await this.parse(Version)
    const { first, last } = TESTED_MINORS
    const version: VersionView = {
      apiVersion: 'volctl.io/v1',
      kind: 'Version',
      volctl: this.config.version,
      commit: VOLCTL_COMMIT,
      node: process.versions.node,
      platform: process.platform,
      arch: process.arch,
      kubernetes: { first: `1.${first}`, last: `1.${last}` },
    }
    await this.answer(version, flags.output as OutputFormat, () => renderVersion(version))
  }
}
