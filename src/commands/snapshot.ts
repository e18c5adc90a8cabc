import { VolctlError } from '../core/base/errors.ts'
import { snapshotFlags } from '../core/cli/flags.ts'
import { judged } from '../core/cli/judged-node.ts'
import { NodeLooks } from '../core/cli/live-node.ts'
import { type NodeChoice, nodeChoice, planOptions, requireFlagsOfScope } from '../core/cli/options.ts'
import { examples, VolctlCommand } from '../core/cli/volctl-command.ts'
import { type Destination, destinationOf, writeToDescriptor } from '../core/cli/write-out.ts'
import type { NodeState } from '../core/facts/actual/snapshot.ts'
import { snapshotNotWritten, snapshotText, writeSnapshot } from '../core/plan/documents/snapshot-file.ts'

export default class Snapshot extends VolctlCommand {
  static override summary = 'Write to one file everything that a plan is computed from. Changes nothing.'
  static override description =
    'Reads the API server and the node as plan does and writes one JSON document (mode 0600). plan, status, ' +
    'explain and check --snapshot work from it on any machine. No secret leaves the node: the snapshot has only keyed digests of ' +
    'secrets and of the files made from them, and the key is discarded.'
  static override usage = 'snapshot [-o FILE] [FLAGS]'
  static override examples = examples({
    'For a colleague, or for later:': '$ snapshot -o node.json.gz',
    'One section of the snapshot:': '$ snapshot | jq .kubelet',
  })
  static override flags = snapshotFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Snapshot)
    const name = flags.output ?? '-'
    const destination = destinationOf(name)
    requireFlagsOfScope(flags)
    if (flags.cluster) return await this.#writeCluster(nodeChoice(flags), destination, name)
    using looks = new NodeLooks(nodeChoice(flags), this.detail, 'all')
    const look = await looks.look()
    // All that any flags would take away, so that plans of the file are those of the node.
    const options = { ...planOptions({}, this.config.version), orphans: true }
    const { node } = await judged(look, options, { blocked: true })
    await this.#write(node, destination, name)
  }

  async #writeCluster(choice: NodeChoice, destination: Destination, name: string): Promise<void> {
    const { loadCluster } = await import('../core/cli/load-cluster.ts')
    const { clusterSnapshotLines, writeClusterSnapshot } = await import('../core/cluster/read/cluster-snapshot.ts')
    const state = await loadCluster(choice, undefined, this.detail)
    if (destination.kind === 'file') {
      writeClusterSnapshot(state, destination.path, name)
      this.say(`wrote ${name}: ${state.server}, ${state.nodes.length} nodes, ${state.podCount} pods`)
    } else if (destination.kind === 'descriptor') {
      await writeToDescriptor(destination.fd, [...clusterSnapshotLines(state)].join(''), this.output)
    }
  }

  async #write({ snapshot, mounts }: NodeState, destination: Destination, name: string): Promise<void> {
    if (destination.kind === 'file') {
      writeSnapshot(snapshot, destination.path, name)
      this.say(`wrote ${name}: ${snapshot.nodeName}, ${snapshot.api?.pods.length ?? 0} pods, ${mounts.size} mounts`)
    } else if (destination.kind === 'descriptor') {
      try {
        await writeToDescriptor(destination.fd, snapshotText(snapshot), this.output)
      } catch (error) {
        throw error instanceof VolctlError ? error : snapshotNotWritten(name, error)
      }
    }
  }
}
