/** Reads the cluster of a kubeconfig, and says how much memory that took at most, in KiB. */

import { readCluster } from '../../../src/core/cluster/read/read-cluster.ts'
import { createKubeClient } from '../../../src/core/kube/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/kube/kubeconfig/kube-config.ts'

const [, , kubeconfig = ''] = process.argv
const client = createKubeClient(discoverKubeConfig({ kubeconfig }))
const { lists, errors, pods, podCount } = await readCluster({ client })
client.close()
console.log(JSON.stringify({ lists, errors, pods: pods.length, podCount, maxRss: process.resourceUsage().maxRSS }))
