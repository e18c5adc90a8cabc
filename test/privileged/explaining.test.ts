/** `volctl explain` on a node whose mounts, processes, namespaces and loop devices are real. */
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { Explanation, HoldersView } from '../../src/core/explain/explanation.ts'
import { inNamespace } from '../helpers/in-namespace.ts'
import { noMounts, noRoot } from '../helpers/namespace.ts'

const WORKER = new URL('./workers/explaining.ts', import.meta.url)
const run = <T>(scenario: string): Promise<T> => inNamespace<T>(WORKER, scenario)

describe.skipIf(noMounts !== undefined)(`explaining for real${noMounts === undefined ? '' : ` (${noMounts})`}`, () => {
  it('who holds a mount: files, directories, roots, maps, loop devices, other mount namespaces; apply begins nothing for the same', async () => {
    const found = await run<{
      pids: Record<string, number>
      loop: string | null
      other: string
      volume: string
      holders: HoldersView
      blocked: string[]
      seconds: number
      screen: string
      applied: string[]
      after: { screen: string; applied: string[] }
    }>('holders')
    const { pids, volume, other, loop } = found
    const { processes, namespaces, loops, kernel, notes } = found.holders
    expect(processes.map(({ pid, holds: [first] }) => [pid, first])).toEqual(
      [
        [pids.cwd, { what: 'cwd', path: volume }],
        [pids.file, { what: 'file', path: `${volume}/open` }],
        [pids.map, { what: 'map', path: `${volume}/held` }],
        [pids.inside, { what: 'cwd', path: other }],
        ...(pids.root === undefined ? [] : [[pids.root, { what: 'root', path: volume }]]),
      ].toSorted(([a], [b]) => Number(a) - Number(b)),
    )
    expect(namespaces.map(({ pid, mountPoints }) => [pid, mountPoints])).toEqual([
      [pids.inside, [other]],
      [pids.mount, [other]],
    ])
    expect(loops).toEqual(loop === null ? [] : [{ device: loop, backingFile: `${volume}/image` }])
    expect({ kernel, notes }).toEqual({ kernel: [], notes: [] })
    expect(found.blocked[0]).toMatch(new RegExp(`^UnmountDevice: \\S+ is in use by .*sh \\(pid ${pids.cwd}, cwd\\)`))
    for (const text of [
      `  sh (pid ${pids.cwd})\n    cwd         ${volume}\n`,
      `  held (pid ${pids.map})\n    map         ${volume}/held\n`,
      `  mount namespace of sh (pid ${pids.mount})\n    mounted on  ${other}`,
    ])
      expect(found.screen).toContain(text)
    // Among hundreds of processes, and with the start of two programs.
    expect(found.seconds).toBeLessThan(10)
    expect(found.applied).toEqual(['UnmountDevice vol-old: blocked HeldBy'])
    expect(found.after).toEqual({ screen: '  nobody', applied: ['UnmountDevice vol-old: done'] })
  })

  it('whom apply refuses to delete content for (S12) is whom explain names', async () => {
    const found = await run<Record<string, { screen: string; applied: string; left: boolean }>>('content')
    const refused = { applied: 'UnmountVolume scratch: blocked HeldBy', left: true }
    expect(found).toEqual({
      mount: { ...refused, screen: expect.stringMatching(/namespace of sh \(pid.*\/elsewhere/s) },
      overlay: { ...refused, screen: expect.stringMatching(/overlay on .*lowerdir .*\/lower.*sh \(pid/s) },
      inside: { ...refused, screen: expect.stringContaining('cwd') },
      file: { ...refused, screen: expect.stringContaining('lower') },
      nobody: ['UnmountVolume scratch: done'],
      gone: true,
    })
  })

  it('pod and container of a process; of a pod that is gone and still runs nothing is touched', async () => {
    const { living, held, web, gone, busy, runs } = await run<{
      living: number
      held: number
      web: Explanation
      gone: Explanation
      busy: Explanation
      runs: Explanation
    }>('containers')
    const pod = { name: 'web-0', namespace: 'shop' }
    const inWeb = { pid: living, command: 'sh', container: 'a'.repeat(13), pod, holds: [{ what: 'cwd' }] }
    expect(web).toMatchObject({
      holders: { processes: [inWeb] },
      verdict: { state: 'nothing', rule: 'S5' },
      notes: [],
    })
    // Its volume is the other pod's too: who wants it, and has a mount of his own, is in nobody's way.
    expect(gone.holders.processes).toMatchObject([inWeb])
    expect(gone.verdict).toMatchObject({ state: 'operation', code: 'PodGone' })
    expect(gone.notes).toEqual([])
    expect(busy.operations[0]?.blocked?.message).toContain(`is in use by sh (pid ${held}, cwd)`)
    expect(runs).toMatchObject({
      operations: [],
      verdict: { state: 'problem', code: 'PodGoneButRunning' },
      pods: [{ class: 'Frozen', signsOfLife: ['processes in its cgroup'] }],
    })
    expect(runs.holders.processes).toContainEqual(
      expect.objectContaining({ pid: held, container: 'b'.repeat(13), pod: { uid: runs.pods[0]?.pod.uid } }),
    )
    expect(runs.summary.causes?.[0]?.remedy[0]).toMatch(/^Stop the pod .*, then plan again: crictl pods /)
  })

  it('a driver by its sockets: it answers, it was killed, it was stopped', async () => {
    type Look = Pick<Explanation, 'driver'> & { state: string; code?: string; links: string[] }
    const found = await run<Record<'runs' | 'killed' | 'stopped', Look> & { screen: string }>('driver')
    const { runs, killed, stopped, screen } = found
    const objects = ['CSINode good', 'CSIDriver good']
    expect(runs).toMatchObject({
      state: 'operation',
      links: ['NodePluginPod unknown', 'Socket good', 'Registration good', ...objects],
      driver: { sockets: [{ answers: true, versions: [expect.stringMatching(/^1\./)] }] },
    })
    expect(runs.driver?.dependents.published.length).toBeGreaterThan(0)
    // The sockets stay, and nobody listens.
    expect(killed).toMatchObject({ state: 'problem', code: 'DriverUnavailable' })
    expect(killed.links).toContain('Socket bad')
    expect(stopped).toMatchObject({
      state: 'problem',
      code: 'DriverUnavailable',
      message: expect.stringMatching(/driver/),
      driver: { sockets: [] },
    })
    expect(stopped.links).toEqual(['NodePluginPod bad', 'Socket bad', ...objects])
    expect(screen).toContain('\nDepends on it:\n')
    expect(screen.split('\n').length).toBeLessThanOrEqual(24)
  })

  it('the same offline but for the holders; nothing is written', async () => {
    expect(await run('offline')).toEqual({ taken: 0, differing: [], writes: [] })
  })
})

const noSetpriv = spawnSync('setpriv', ['--version']).status === 0 ? undefined : 'there is no setpriv(1) here'
const cannot = noRoot ?? noSetpriv

describe.skipIf(cannot !== undefined)(`with the least power${cannot === undefined ? '' : ` (${cannot})`}`, () => {
  it('what could not be seen is said, and it is never "nobody"', async () => {
    type Seen = Record<'root' | 'user' | 'blind', string>
    const found = await run<{
      pid: number
      shown: Seen
      refused: Seen
      hidden: Seen
      user: Pick<Explanation, 'holders' | 'verdict'>
    }>('leastPower')
    const { shown, refused, hidden } = found
    const hides = '  /proc hides processes of other users (mount option hidepid), so '
    for (const { root, user, blind } of [shown, refused, hidden]) {
      expect(root).toMatch(`  sh (pid ${found.pid})\n    cwd `)
      for (const text of [user, blind]) expect(text).toMatch(/^ {2}nobody, as far as visible\n {2}\S/)
    }
    for (const { user, blind } of [shown, refused]) {
      expect(user).toMatch(
        /\n {2}volctl does not run as root: the open files and mounts of \d+ processes cannot be read$/,
      )
      expect(blind).toMatch(
        /\n {2}the open files and mounts of \d+ processes cannot be read: CAP_SYS_PTRACE or .* is missing/,
      )
      expect(user + blind).not.toContain(hides)
    }
    expect(hidden.user).toContain(hides)
    expect(hidden.blind).toContain(hides)
    expect(found.user.holders).toMatchObject({
      known: true,
      processes: [],
      notes: [expect.stringMatching(/^volctl does not run as root: /)],
    })
  })
})
