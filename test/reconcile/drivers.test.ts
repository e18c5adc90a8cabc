/** What a plan says of CSI drivers' sockets: each kind of trouble its own words, and the volumes that wait for it (C24-C29). */
import { expect, it } from 'vitest'
import type { Plan } from '../../src/core/plan/plan.ts'
import type { CsiSocket } from '../../src/core/rpc/endpoints.ts'
import { DRIVER, node, uid } from '../helpers/node-builder.ts'
import { GONE, plan, WANTS_PV_1 } from './planned.ts'

const REGISTRATION = `plugins_registry/${DRIVER}-reg.sock`
const ENDPOINT = `plugins/${DRIVER}/csi.sock`
const ALIVE: CsiSocket = { path: REGISTRATION, driver: DRIVER, endpoint: ENDPOINT, registered: true }

/** A node with a pod that wants a volume, and one that is gone and had one. */
function planned(...csiSockets: CsiSocket[]): Plan {
  const built = node()
    .persistentVolume('pv-1')
    .published(GONE, 'pv-2', '7:1')
    .livingPod(uid(2), 'app', WANTS_PV_1)
    .with({ csiSockets })
  return plan(built)
}

const said = ({ problems }: Plan): string[] =>
  problems
    .filter(({ code }) => code.startsWith('Driver'))
    .map(({ severity, code, message }) => `${severity} ${code}: ${message}`)

const refused = 'UNAVAILABLE: connection refused'
const dead = `registered, but the driver at /var/lib/kubelet/${ENDPOINT} is dead: ${refused}`

const outvoted = `plugins_registry/new.sock announces ${DRIVER}, too, and is the one in use`
const silent: CsiSocket = { path: REGISTRATION, registered: false, error: `registration socket: ${refused}` }

it.each<[string, CsiSocket[], string[]]>([
  ['nothing', [ALIVE], []],
  [
    'registered but dead',
    [{ ...ALIVE, registered: false, error: dead }],
    [`warning DriverUnavailable: CSI driver ${DRIVER} cannot be called on ${ENDPOINT}: ${dead}`],
  ],
  [
    'nobody behind it',
    [silent],
    [`warning DriverUnavailable: no CSI driver answers on socket ${REGISTRATION}: registration socket: ${refused}`],
  ],
  [
    'two of one name',
    [
      { ...ALIVE, registered: false, error: outvoted },
      { ...ALIVE, path: 'plugins_registry/new.sock' },
    ],
    [
      `warning DriverRegistration: CSI driver ${DRIVER} has two sockets, and ${REGISTRATION} is not the one in use: ${outvoted}`,
    ],
  ],
  [
    'an endpoint elsewhere, which is allowed (C28)',
    [{ ...ALIVE, endpoint: '/run/disk/csi.sock' }],
    [
      `info DriverRegistration: CSI driver ${DRIVER} listens on /run/disk/csi.sock, outside the kubelet's root directory`,
    ],
  ],
  [
    'found without a registration (C28)',
    [{ ...ALIVE, path: ENDPOINT, error: 'no registration socket names it' }],
    [
      `warning DriverRegistration: CSI driver ${DRIVER} answers on ${ENDPOINT} but is not registered with the kubelet: no registration socket names it`,
    ],
  ],
  [
    "somebody else's, which does not know the question",
    [ALIVE, { path: 'plugins/gpu/dra.sock', registered: false, error: 'UNIMPLEMENTED: unknown service' }],
    [],
  ],
])('a socket of which something is wrong: %s', (_name, sockets, want) => {
  expect(said(planned(...sockets))).toEqual(want)
})

it.each<[string, CsiSocket[], string]>([
  ['no socket', [], `CSI driver ${DRIVER} is not registered on this node`],
  [
    'registered but dead',
    [{ ...ALIVE, registered: false, error: dead }],
    `CSI driver ${DRIVER} does not answer on ${ENDPOINT}: ${dead}`,
  ],
])('a volume whose driver cannot be called says why, to be mounted and to be unmounted: %s', (_name, sockets, want) => {
  const { waiting, operations } = planned(...sockets)
  expect(waiting.map(({ code, message }) => [code, message])).toContainEqual(['DriverUnavailable', want])
  expect(operations.map(({ blocked }) => [blocked?.code, blocked?.message])).toContainEqual(['DriverUnavailable', want])
})
