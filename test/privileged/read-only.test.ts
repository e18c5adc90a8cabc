/** A real ext4 that turns read-only under a pod that writes: everything else of the volume is as it was. */
import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { Explanation } from '../../src/core/explain/explanation.ts'
import { planOf } from '../e2e/story.ts'
import { it } from '../helpers/machine.ts'
import { noBlockDevices } from '../helpers/namespace.ts'
import { sh } from '../helpers/scenario.ts'
import { NAMESPACE, pvOf } from '../helpers/scene/api-objects.ts'
import { makeScene, type Scene } from '../helpers/scene/scene.ts'
import { answerOf, runVolctl } from '../helpers/scene/volctl.ts'
import { describeUnless } from './describe-unless.ts'
import { readMounts } from './workers/real-node.ts'

/** What plan and explain say: the status, "severity code volume" of each problem, and the verdict on a pod that has it. */
async function look(scene: Scene): Promise<{ status: number | undefined; problems: Set<string>; verdict: string }> {
  const { status, plan } = await planOf(scene)
  const { operations, problems } = plan
  expect(operations).toEqual([])
  const asked = await runVolctl(scene, ['explain', `pod/${NAMESPACE}/${scene.pods.web.name}`, '-o', 'json'])
  const { state, code = '' } = answerOf<Explanation>(asked).verdict
  const said = problems.map(({ severity, code: each, about }) => `${severity} ${each} ${about.volume ?? ''}`)
  return { status, problems: new Set(said), verdict: `${state} ${code}`.trim() }
}

/** The pods as they are, with every volumeMount read-only. */
async function readers(scene: Scene): Promise<object[]> {
  type Pods = { spec: { containers: { volumeMounts: object[] }[] } }[]
  const { api } = answerOf<{ api: { pods: Pods } }>(await runVolctl(scene, ['snapshot', '-o', '-']))
  return api.pods.map((pod) => ({
    ...pod,
    spec: {
      ...pod.spec,
      containers: pod.spec.containers.map((each) => ({
        ...each,
        volumeMounts: each.volumeMounts.map((mount) => ({ ...mount, readOnly: true })),
      })),
    },
  }))
}

describeUnless(noBlockDevices, 'a file system that turns read-only', () => {
  it('S31: by a remount, or by an error: the write fails, and plan and explain say so; of pods that only read nothing is said', async ({
    directory,
  }) => {
    const scene = await makeScene({ directory: `${directory}/scene`, small: true })
    try {
      const [volume = ''] = scene.pods.web.volumes.map(pvOf)
      const target = `${scene.rootDir}/pods/${scene.pods.web.uid}/volumes/kubernetes.io~csi/${volume}/mount`
      const write = (): void => writeFileSync(`${target}/written`, 'by the pod')
      const device = readMounts().at(target)[0]?.source ?? ''
      const staged = readMounts()
        .under(scene.rootDir)
        .find(({ source, mountPoint }) => source === device && mountPoint.endsWith('/globalmount'))?.mountPoint
      if (staged === undefined) throw new Error(`${device} is not staged`)
      const options = (): string[] => readMounts().at(target).at(-1)?.superOptions.slice() ?? []
      write()
      expect(await look(scene)).toMatchObject({ status: 0, problems: new Set() })
      // One for each pod that writes to it.
      const problems = new Set([`error ReadOnlyFileSystem ${volume}`])
      const told = { status: 1, problems, verdict: 'problem ReadOnlyFileSystem' }

      sh('mount', '-o', 'remount,ro', staged)
      expect(write).toThrow('EROFS')
      expect(options()).toContain('ro')
      expect(await look(scene)).toEqual(told)

      sh('mount', '-o', 'remount,rw,errors=remount-ro', staged)
      writeFileSync(`/sys/fs/ext4/${device.slice('/dev/'.length)}/trigger_fs_error`, 'a test of volctl')
      expect(write).toThrow('EROFS')
      // Newer kernels keep "rw" after an error.
      expect(options().filter((each) => each === 'ro' || each === 'emergency_ro')).toHaveLength(1)
      expect(await look(scene)).toEqual(told)

      scene.api.put(...(await readers(scene)))
      expect(await look(scene)).toMatchObject({ status: 0, problems: new Set() })
    } finally {
      await scene.dispose()
    }
  })
})
