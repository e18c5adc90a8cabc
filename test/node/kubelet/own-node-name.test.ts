import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { candidateFrom } from '../../../src/core/node/kubelet/kubelet-candidate.ts'
import { ownNodeName } from '../../../src/core/node/locate-node.ts'
import { kubeconfigText } from '../../helpers/api-server/users.ts'
import { fixture } from '../helpers/fixture.ts'

const kubelet = (...args: readonly string[]) =>
  candidateFrom({ source: 'process 7 (kubelet)', pid: 7, args, workingDirectory: '/' })
const HERE = hostname().toLowerCase()

describe('S1: ownNodeName', () => {
  it('is what a flag says, in lower case', async () => {
    expect(await ownNodeName(kubelet('--hostname-override= Edge-1 '))).toEqual({
      nodeName: 'edge-1',
      nodeNameFrom: 'flag',
    })
  })

  it("is in the certificate that the kubelet's kubeconfig names, or in the user's name there", async () => {
    using directory = fixture()
    const path = join(directory.path, 'kubeconfig')
    const named = (user: object, name?: string) => {
      writeFileSync(path, kubeconfigText({ server: 'https://127.0.0.1:1' }, user, name), { mode: 0o600 })
      return ownNodeName(kubelet(`--kubeconfig=${path}`))
    }
    // Of system:node:edge-2.
    const certificate = join(import.meta.dirname, 'edge-2.pem')
    const user = { 'client-certificate': certificate, 'client-key': certificate }
    expect(await named(user)).toEqual({ nodeName: 'edge-2', nodeNameFrom: 'credential' })
    expect(await named({ token: 't' }, 'system:node:edge-3')).toEqual({
      nodeName: 'edge-3',
      nodeNameFrom: 'credential',
    })
  })

  it('is this host’s, where neither tells, and no cloud gives another', async () => {
    const nowhere = '--kubeconfig=/nonexistent'
    expect(await ownNodeName(kubelet(nowhere))).toEqual({ nodeName: HERE, nodeNameFrom: 'hostname' })
    expect(await ownNodeName(kubelet(nowhere, '--cloud-provider=external'))).toEqual({
      nodeName: HERE,
      nodeNameFrom: 'hostname',
    })
    expect(await ownNodeName(kubelet(nowhere, '--cloud-provider=aws'))).toBeUndefined()
  })

  it('is not known of a directory alone, nor of none', async () => {
    const directory = candidateFrom({ source: 'directory /var/lib/kubelet', args: [], workingDirectory: '/' })
    expect(await ownNodeName(directory)).toBeUndefined()
    expect(await ownNodeName(undefined)).toBeUndefined()
  })
})
