/** S33: a kubeconfig and what it names are root's alone, and one that was only found starts no program. */
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'
import type { Answer } from './kubeconfig-owner.worker.ts'

const WORKER = new URL('./kubeconfig-owner.worker.ts', import.meta.url)

const TRICKS = [
  "another user's",
  'for a group to write',
  'for all to write',
  "in another user's directory",
  'in a directory for all to write',
  "below another user's directory",
  "by another user's link",
  "by another user's link, in a directory for all",
  'a FIFO',
]
const GIVEN = ['--kubeconfig', 'KUBECONFIG'].flatMap((how) => TRICKS.map((trick) => `${how} ${trick}`))
const NAMED = ['plugin', 'ca', 'certificate', 'key', 'token'].flatMap((part) =>
  TRICKS.map((trick) => `${part} ${trick}`),
)
const HOMES = [
  "another user's, wholly",
  "another user's directory",
  "another user's file",
  'a file for a group to write',
  "a link of another user's",
]

const REFUSED = { status: 1, ended: 'itself', said: 'one line', code: expect.stringMatching(/./), ran: '' }
/** Once for a connection. */
const RAN = { ended: 'itself', ran: expect.stringMatching(/^(ran plugin\n)+$/) }

describe.skipIf(noRoot !== undefined)(`a kubeconfig${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  let given: { control: Answer; found: Record<string, Answer> }
  let named: { controls: Record<string, Answer>; found: Record<string, Answer> }
  let home: { without: number; homes: Record<string, object> }
  let found: Record<string, Answer>
  beforeAll(async () => {
    given = await inNamespace(WORKER, 'given')
    named = await inNamespace(WORKER, 'named')
    home = await inNamespace(WORKER, 'home')
    found = await inNamespace(WORKER, 'found')
  })

  it("control: root's own is used, and its plugin run", () => {
    expect(given.control).toMatchObject({ ...RAN, status: 0 })
    const { plugin, ca, certificate, key, token } = named.controls
    for (const each of [ca, certificate, key]) expect(each).toMatchObject({ status: 0, said: '' })
    expect(plugin).toMatchObject({ ...RAN, status: 0 })
    // The API does not know this one.
    expect(token).toMatchObject({ status: 1, code: 'Unauthorized' })
  })

  it.each(GIVEN)('S33: is refused in one line: %s', (name) => expect(given.found[name]).toEqual(REFUSED))

  it.each(NAMED)('S33: is refused for what it names: %s', (name) => {
    expect(named.found[name]).toEqual(REFUSED)
    expect(named.found[name]?.code).not.toBe('Unauthorized')
  })

  it.each(HOMES)('S33: is passed over in a home that is %s', (name) => {
    expect(home.without).toBe(0)
    expect(home.homes[name]).toEqual({ same: true, status: 0, saidWhere: true, ran: '', asked: [] })
  })

  it.each(['~/.kube/config', '/etc/kubernetes/admin.conf', '/etc/kubernetes/kubelet.conf', "the unit's --kubeconfig"])(
    'S33: starts no program where it was only found: %s',
    (name) => {
      expect(found[name]).toEqual(REFUSED)
    },
  )

  it('S33: starts no program for the second look at the pods (S2)', () => {
    expect(found["the unit's --kubeconfig, for the second look"]).toMatchObject({ ended: 'itself', ran: '' })
  })

  it.each(['~/.kube/config', '/etc/kubernetes/admin.conf', '/etc/kubernetes/kubelet.conf'])(
    'control: the same file starts it where it was given: %s',
    (name) => expect(found[`${name}, given`]).toMatchObject(RAN),
  )
})
