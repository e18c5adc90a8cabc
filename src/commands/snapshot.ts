import { fstatSync } from 'node:fs'
import { snapshotFlags } from '../core/cli/flags.ts'
import { judged, NodeLooks } from '../core/cli/live-node.ts'
import { type PlaceFlagValues, planOptions } from '../core/cli/options.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { said, VolctlError } from '../core/messages/findings.ts'
import { terminalSafeJson } from '../core/messages/terminal-safe.ts'
import { snapshotText, writeSnapshot } from '../core/plan/documents/snapshot-file.ts'
import { callerPath } from '../core/trust/run.ts'

export default class Snapshot extends VolctlCommand {
  static override summary = 'Write to one file everything that a plan is computed from. Changes nothing.'
  static override description =
    'Reads the API server and the node as plan does and writes one file of JSON (mode 0600). plan, status, ' +
    'explain, check and doctor --snapshot work from it on any machine. No secret leaves the node: the snapshot has only keyed digests of ' +
    'secrets and of the files made from them, and the key is discarded.'
  static override usage = 'snapshot [-o FILE] [FLAGS]'
  static override examples = examples({
    'For a colleague, or for later:': '$ snapshot -o node.json.gz',
    'One section of the snapshot:': '$ snapshot | jq .kubelet',
  })
  static override flags = snapshotFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Snapshot)
    const { output: name = '-' } = flags
    // S33: not into a disk that the shell has opened, either.
    if (name === '-' && fstatSync(1).isBlockDevice()) throw new VolctlError(said('NotWritten.blockDevice'))
    if (flags.cluster) return await this.#writeCluster(flags, name)
    using looks = new NodeLooks(flags, this.detail, 'all')
    const look = await looks.look()
    // All that any flags would take away, so that plans of the file are those of the node.
    const options = { ...planOptions({}, this.config.version), orphans: true }
    const { snapshot, mounts } = (await judged(look, options, { blocked: true })).node
    if (name === '-') return await this.#print(snapshotText(snapshot))
    writeSnapshot(snapshot, callerPath(name), name)
    this.say(`wrote ${name}: ${snapshot.nodeName}, ${snapshot.api?.pods.length ?? 0} pods, ${mounts.all.length} mounts`)
  }

  async #writeCluster(flags: PlaceFlagValues, name: string): Promise<void> {
    const { loadCluster } = await import('../core/cli/load-cluster.ts')
    const { clusterSnapshotLines, writeClusterSnapshot } = await import('../core/cluster/read/cluster-snapshot.ts')
    const state = await loadCluster(flags, this.detail)
    if (name === '-') return await this.#print([...clusterSnapshotLines(state)].join(''))
    writeClusterSnapshot(state, callerPath(name), name)
    this.say(`wrote ${name}: ${state.server}, ${state.nodes.length} nodes, ${state.podCount} pods`)
  }

  async #print(text: string): Promise<void> {
    this.output.write(this.io.stdout.isTTY === true ? terminalSafeJson(text) : text)
    await this.output.flush()
  }
}
