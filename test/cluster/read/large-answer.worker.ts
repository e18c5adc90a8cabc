/** Reads the cluster of a kubeconfig, and says how much memory that took at most, in KiB. */
import { createKubeClient } from '../../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/api/kubeconfig/kube-config.ts'
import { readCluster } from '../../../src/core/cluster/read/read-cluster.ts'

const [, , kubeconfig = ''] = process.argv
const client = createKubeClient(discoverKubeConfig({ kubeconfig }))
const { lists, errors, pods, podCount } = await readCluster({ client })
client.close()
console.log(JSON.stringify({ lists, errors, pods: pods.length, podCount, maxRss: process.resourceUsage().maxRSS }))
