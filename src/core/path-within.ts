/**
 * Whether `path` is `base` or lies below it: by component, lexically, without touching the disk (P112). `/a/bc` is not
 * within `/a/b`. Both are plain paths, without `..` and trailing slashes, as mountinfo and our own trees have them.
 */
export function isWithin(path: string, base: string): boolean {
  return path === base || path.startsWith(base === '/' ? '/' : `${base}/`)
}
