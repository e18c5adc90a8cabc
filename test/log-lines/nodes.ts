/** Nodes in the states in which the lines of lines.ts are written. */
import { type NodeBuilder, node, ROOT } from '../helpers/node-builder.ts'
import { GONE, LIVING } from './lines.ts'

const DATA = { name: 'data', persistentVolumeClaim: { claimName: 'claim-pv-1' } }
const CONFIG = { name: 'config', configMap: { name: 'web-config' } }

/** A pod that was deleted, and its volume: published, staged, attached. */
export function orphan(): NodeBuilder {
  return node().persistentVolume('pv-1').published(GONE, 'pv-1', '7:1').staged('pv-1', '7:1')
}

/** web-0 runs and has its volume. */
export function healthy(): NodeBuilder {
  return node()
    .persistentVolume('pv-1')
    .livingPod(LIVING, 'web-0', [DATA])
    .published(LIVING, 'pv-1', '7:1')
    .staged('pv-1', '7:1')
}

/** web-0 wants its volume, which is attached and not mounted. */
export function unmounted(): NodeBuilder {
  return node().persistentVolume('pv-1').pod(LIVING, 'web-0', [DATA], { phase: 'Pending' })
}

/** The same, and the volume is not attached. */
export function unattached(): NodeBuilder {
  return node().persistentVolume('pv-1', { attached: false }).pod(LIVING, 'web-0', [DATA], { phase: 'Pending' })
}

/** The same, and another node has it. */
export function elsewhere(): NodeBuilder {
  return unattached().attach('pv-1', 'pv-1', 'node-2')
}

export function withoutDriver(): NodeBuilder {
  const built = unmounted()
  built.override = { csiSockets: [] }
  return built
}

/** Only its sub-path is left of the orphan. */
export function subPathLeft(): NodeBuilder {
  return node()
    .persistentVolume('pv-1')
    .mount(`pods/${GONE}/volume-subpaths/pv-1/c/0`, { dev: '7:1', root: '/sub', fsType: 'ext4', source: '/dev/loop1' })
    .staged('pv-1', '7:1')
}

/** Only a state file is left of the orphan's volume. */
export function fileLeft(): NodeBuilder {
  return node()
    .persistentVolume('pv-1', { attached: false })
    .file(`pods/${GONE}/volumes/kubernetes.io~csi/pv-1/vol_data.json`, '')
}

/** Somebody has mounted something in the orphan's directory. */
export function foreignMount(): NodeBuilder {
  return node()
    .persistentVolume('pv-1', { attached: false })
    .dir(`pods/${GONE}/plugins`)
    .mount(`pods/${GONE}/plugins/mnt`, { dev: '8:9', fsType: 'xfs', source: '/dev/sdz' })
}

export function stateFileLost(): NodeBuilder {
  return node().persistentVolume('pv-1').published(GONE, 'pv-1', '7:1', { stateFile: false }).staged('pv-1', '7:1')
}

export function dead(): NodeBuilder {
  const built = orphan()
  const path = `${ROOT}/pods/${GONE}/volumes/kubernetes.io~csi/pv-1/mount`
  built.override = { deadMounts: [{ path, error: 'ENOTCONN' }] }
  return built
}

/** web-0 wants a config map that does not exist. */
export function contentMissing(): NodeBuilder {
  const built = node().pod(LIVING, 'web-0', [CONFIG], { phase: 'Pending' })
  built.overrideApi = {
    errors: [
      {
        resource: 'configmaps',
        namespace: 'default',
        name: 'web-config',
        status: 404,
        reason: 'NotFound',
        message: 'not found',
      },
    ],
  }
  return built
}

/** web-0 has its token. */
export function withToken(): NodeBuilder {
  const token = {
    name: 'kube-api-access-x7x7x',
    projected: { sources: [{ serviceAccountToken: { path: 'token' } }] },
  }
  return node()
    .livingPod(LIVING, 'web-0', [token])
    .mount(`pods/${LIVING}/volumes/kubernetes.io~projected/kube-api-access-x7x7x`)
}

/** web-0 has a share of an NFS server that is down. */
export function withShare(): NodeBuilder {
  return node().pod(LIVING, 'web-0', [{ name: 'share', nfs: { server: '10.0.0.9', path: '/export' } }], {
    phase: 'Pending',
  })
}

/** web-0 wants a claim that has no volume. */
export function unbound(): NodeBuilder {
  const claim = { name: 'data', persistentVolumeClaim: { claimName: 'claim-free' } }
  const built = node().pod(LIVING, 'web-0', [claim], { phase: 'Pending' })
  built.claims.push({
    metadata: { name: 'claim-free', namespace: 'default', uid: 'claim-uid-free' },
    spec: { accessModes: ['ReadWriteOnce'] },
    status: { phase: 'Pending' },
  })
  return built
}

/** The volume may only be used on another node. */
export function otherZone(): NodeBuilder {
  const built = unmounted()
  const [volume] = built.volumes
  const match = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }
  if (volume !== undefined)
    built.volumes[0] = {
      ...volume,
      spec: { ...volume.spec, nodeAffinity: { required: { nodeSelectorTerms: [match] } } },
    }
  return built
}

/** web-0 is being deleted and still runs. */
export function terminating(): NodeBuilder {
  return node()
    .persistentVolume('pv-1')
    .pod(LIVING, 'web-0', [DATA], { deleted: true })
    .running(LIVING, 'web-0')
    .published(LIVING, 'pv-1', '7:1')
    .staged('pv-1', '7:1')
}

/** The volume is attached, and no pod of this node wants it. */
export function unwanted(): NodeBuilder {
  return node().persistentVolume('pv-1')
}
