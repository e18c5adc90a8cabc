import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { noRoot } from '../helpers/namespace.ts'

const PRINT = new URL('../node/helpers/print-standing.ts', import.meta.url).pathname

/** A process stands for the kubelet; volctl is started beside it in several ways. */
describe.skipIf(noRoot !== undefined)(`S7: where volctl stands${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  it.each([
    { name: 'beside the kubelet', run: '"$@"', want: [] },
    {
      name: 'in a chroot',
      run: 'd=$(mktemp -d); mount --rbind / "$d"; mount --make-rprivate "$d"; s=0; chroot "$d" "$@" || s=$?; umount -l "$d"; rmdir "$d"; exit $s',
      want: ['chroot'],
    },
    {
      name: 'in a user namespace',
      run: 'unshare -Ur "$@"',
      want: ['user namespace', 'PID namespace', 'mount namespace cannot be read'],
    },
    { name: 'in another PID namespace', run: 'unshare -pf "$@"', want: ['PID namespace'] },
  ])('$name', ({ run, want }) => {
    // All in one mount namespace of their own: what the chroot needs is mounted there.
    const script = `set -eu; sleep 60 & pid=$!; trap 'kill "$pid"' EXIT; set -- "$@" "$pid"; ${run}`
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      ['-m', '--propagation', 'private', 'bash', '-c', script, 'bash', process.execPath, PRINT],
      { encoding: 'utf8', timeout: 20_000 },
    )
    expect(stderr).toBe('')
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toEqual(want)
  })
})
