/** The pod's link to its raw device (P98, P99): made, kept, replaced, and never put in the place of anything else. */
import { expect, it } from 'vitest'
import { statesOf } from '../../helpers/apply-plan.ts'
import { DEVICE, Fixture, localVolume, operation, POD, ROOT } from '../apply-fixture.ts'

const LINK = `${ROOT}/pods/${POD}/volumeDevices/kubernetes.io~local-volume/pv`
const volume = localVolume('pv', 'Block')

it.each<{ name: string; there?: { link: string } | 'file' | 'directory'; state: string; log: string[] }>([
  { name: 'nothing', state: 'done', log: [`symlink ${DEVICE} ${LINK}`] },
  { name: 'the same link', there: { link: DEVICE }, state: 'done', log: [] },
  {
    name: 'a link that leads elsewhere',
    there: { link: '/dev/sdc' },
    state: 'done',
    log: [`unlink ${LINK}`, `symlink ${DEVICE} ${LINK}`],
  },
  { name: 'a file', there: 'file', state: 'failed UnexpectedFile', log: [] },
  { name: 'a directory', there: 'directory', state: 'failed UnexpectedFile', log: [] },
])('in the place of $name: $state', async ({ there, state, log }) => {
  const fixture = new Fixture().wants(volume).onDevice()
  fixture.host.dir(LINK.slice(0, LINK.lastIndexOf('/')))
  if (there === 'file') fixture.host.file(LINK, 'x')
  else if (there === 'directory') fixture.host.dir(LINK)
  else if (there !== undefined) fixture.host.files.set(LINK, { type: 'link', size: 8, text: there.link })
  const steps = [{ op: 'symlink' as const, target: LINK, source: DEVICE }]
  const result = await fixture.apply([operation('a', { kind: 'MapVolume', volume, steps })])
  expect(statesOf(result)).toEqual({ a: state })
  expect(fixture.host.log.filter((line) => /^(?:un|sym)link/.test(line))).toEqual(log)
})

it('a failure gives back its loop device, unless that is on the map of another pod by now', async () => {
  const fixture = new Fixture().wants(volume)
  const { host } = fixture
  const maps = `${ROOT}/plugins/kubernetes.io~local-volume/volumeDevices/pv`
  host.dir(maps)
  host.programs = (program, [, target = '']) => {
    if (program === 'losetup' && target === `${maps}/${POD}`) host.backingFiles.set('/dev/loop9', target)
    else if (program === 'losetup') host.backingFiles.set('/dev/loop9', `${maps}/another`).set('/dev/loop8', '/other')
    return {}
  }
  const steps = ['', '2'].map((more) => ({ op: 'losetup -f' as const, target: `${maps}/${POD}${more}` }))
  const result = await fixture.apply([operation('a', { kind: 'MapVolume', volume, steps, paths: [maps] })])
  expect(statesOf(result)).toEqual({ a: 'failed CommandFailed' })
  expect(host.log.filter((line) => line.startsWith('losetup -d'))).toEqual([])
})
