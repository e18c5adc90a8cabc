/** THIRD_PARTY_LICENSES: every text that must be passed on, each once, and whose it is. */
import type { Component } from './components.ts'

const RULE = '='.repeat(100)
const INTRODUCTION = `volctl is licensed under the Apache License 2.0: see LICENSE. It contains what others made, named here with their
licences. Written by \`npm run licenses\` from what is really bundled; do not edit.
`

/** Pure: the same components give the same text. */
export function licenseDocument(components: readonly Component[]): string {
  const owners = new Map<string, Component[]>()
  for (const component of components) {
    const text = component.texts.map(tidy).join('\n\n')
    owners.set(text, [...(owners.get(text) ?? []), component])
  }
  const sections = [...owners].map(([text, of]) => [RULE, ...of.map(heading), RULE, '', text, ''].join('\n'))
  return [INTRODUCTION, ...components.map((each) => `- ${heading(each)}`), '', ...sections].join('\n')
}

function heading({ name, version, license, use }: Component): string {
  return `${name} ${version} (${license}): ${use}`
}

function tidy(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[ \t]+$/gm, '')
    .trim()
}
