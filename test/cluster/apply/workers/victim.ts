/** Plans and applies, and kills itself right after its n-th change of the API: KUBECONFIG N. */
import { createKubeClient } from '../../../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../../../src/core/api/kubeconfig/kube-config.ts'
import { apply, changing, planOf } from '../scene.ts'

const [kubeconfig = '', changes = ''] = process.argv.slice(2)
const GONE = { nodeGone: ['gone'] }
const client = createKubeClient(discoverKubeConfig({ kubeconfig }))
let left = Number(changes)

const mortal = changing(client, async (_method, _path, send) => {
  const answer = await send()
  if (left-- <= 0) process.kill(process.pid, 'SIGKILL')
  return answer
})
await apply(mortal, await planOf(client, GONE), { options: GONE })
client.close()
