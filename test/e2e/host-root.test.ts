import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runMachine } from './run-scenario.ts'
import type { HostRootReport } from './scenarios/host-root.ts'

interface Planned {
  readonly operations: readonly { readonly id: string; readonly blocked?: { readonly code: string } }[]
}

function blockedOperations({ stdout }: { readonly stdout: string }): string[] {
  const { operations } = JSON.parse(stdout) as Planned
  return operations.map(({ id, blocked }) => `${id} ${blocked?.code ?? 'ready'}`)
}

/**
 * Without what differs from one look to the next. The container holds what it has mounted, too; what is to be typed in it has the
 * flag, and what is not, the node.
 */
function timeless(text: string): unknown {
  return JSON.parse(text.replaceAll(/ --host-root [^\s"]+/g, ''), (key, value) => {
    if (key === 'next') return (value as { node?: string }[]).map(({ node: _, ...step }) => step)
    return /^(capturedAt|createdAt|holders)$/.test(key) ? undefined : value
  })
}

describe.skipIf(noMounts !== undefined)('--host-root: volctl in a container', () => {
  let report: HostRootReport
  beforeAll(async () => {
    report = await runMachine('host-root')
  })

  it.each([
    { command: 'plan', of: ({ plan }: HostRootReport['onNode']) => plan },
    { command: 'explain', of: ({ explain }: HostRootReport['onNode']) => explain },
  ])('$command says what it says on the node itself', ({ of }) => {
    expect(of(report.inContainer)).toMatchObject({ status: 0, stderr: '' })
    expect(timeless(of(report.inContainer).stdout)).toEqual(timeless(of(report.onNode).stdout))
  })

  it('without the flag sees that the directories are not there', () => {
    expect(report.alone.stdout).toContain('NodeUnreadable')
    expect(report.onNode.plan.stdout).not.toContain('NodeUnreadable')
  })

  it('gives the exit status of the run in the node', () => expect(report.detailed).toBe(2))

  it("plans where the container's mounts do not follow the node's, changes nothing, and says what to use instead", () => {
    // The container itself is not taken for who holds the volumes.
    expect(blockedOperations(report.debug)).toEqual(blockedOperations(report.onNode.plan))
    expect(report.held).toMatchObject({ status: 4, stdout: '' })
    expect(report.held.stderr).toMatch(
      /^volctl: refused: the mounts of this container do not follow the node's, .+: \/\S+mount$/m,
    )
    expect(report.held.stderr).toContain('mountPropagation: HostToContainer')
    expect(report.thereafter).toBe(blockedOperations(report.onNode.plan).length)
  })

  it("saves a plan to the container's own file, and applies it from there", () => {
    expect(report.repair).toMatchObject({ status: 0, stderr: expect.stringMatching(/^wrote \.\/saved\.plan: /) })
    expect(report.left).toBe(0)
  })

  it.each([
    { where: 'in a container with processes of its own', of: (all: HostRootReport) => all.ownPids, says: 'hostPID' },
    { where: 'where the node cannot be seen', of: (all: HostRootReport) => all.incomplete, says: "the host's / there" },
  ])('is one clear line $where', ({ of, says }) => {
    const { status, stdout, stderr } = of(report)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^volctl: --host-root \S+: .+\n {8}.+\n$/)
    expect(stderr).toContain(says)
  })
})
