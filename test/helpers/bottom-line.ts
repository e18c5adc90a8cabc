/** What a plan's screen ends with, but for what to type next. */
export function bottomLine(screen: string): string {
  const [said = ''] = screen.trim().split(/\nNext: /, 1)
  return said.split('\n').at(-1) ?? ''
}
