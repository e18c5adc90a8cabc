/** Reads snapshots of nodes from standard input, in a process of its own, and says what was read and how far memory grew. */
import { readFleet } from '../../../../src/core/cluster/fleet/read-fleet.ts'

const before = process.memoryUsage.rss()
const { ledgers, defects } = await readFleet('-')
const peak = process.resourceUsage().maxRSS * 1024
const { user, system } = process.cpuUsage()
const volumes = ledgers.reduce((sum, each) => sum + each.volumes.length, 0)
const nodes = ledgers.slice(0, 5).map(({ node }) => node)
process.stdout.write(
  JSON.stringify({
    ...{ count: ledgers.length, nodes, volumes, defects },
    grownMB: Math.round((peak - before) / 2 ** 20),
    cpuSeconds: (user + system) / 1e6,
  }),
)
