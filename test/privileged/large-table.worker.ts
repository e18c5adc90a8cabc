/** A mount table that is read by two threads: its lines, and the plan's questions to it. */
import { mkdirSync } from 'node:fs'
import { readMountTable, readMountTableBeside } from '../../src/core/node/read-mountinfo.ts'
import { runScenario, sh } from '../helpers/scenario.ts'

/** Each round shows all mounts so far once more, below another directory. */
const DOUBLINGS = 15

await runScenario({
  async large(directory) {
    const root = `${directory}/root`
    mkdirSync(root)
    sh('mount', '-t', 'tmpfs', 'tmpfs', root)
    sh('mount', '--make-private', root)
    for (let round = 0; round < DOUBLINGS; round++) {
      const copy = `${root}/a-copy-of-all-that-was-mounted-before-round-${round}`
      mkdirSync(copy)
      sh('mount', '--rbind', root, copy)
    }
    const once = readMountTable()
    const beside = await readMountTableBeside()
    const paths = ['/', '/proc', root, ...once.under(root).map(({ mountPoint }) => mountPoint)]
    // All of them at once.
    sh('umount', '-l', root)
    const other = paths.find((path) => once.top(path)?.id !== beside.top(path)?.id)
    return {
      mounts: once.under(root).length,
      bytes: once.text.length,
      same: once.text === beside.text,
      other: other ?? 'none',
    }
  },
})
