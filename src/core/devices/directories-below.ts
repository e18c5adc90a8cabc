import type { Tree } from '../actual/tree.ts'

/** @param depth how many levels below `base` */
export function directoriesBelow(tree: Tree, base: string, depth: number): string[] {
  const below = tree.childDirs(base).map((name) => `${base}/${name}`)
  return depth === 1 ? below : below.flatMap((each) => directoriesBelow(tree, each, depth - 1))
}
