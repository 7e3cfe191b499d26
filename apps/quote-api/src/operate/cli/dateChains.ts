import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { CommandError } from './commandError.ts'

const datedFile = z.looseObject({
  chains: z.record(z.string(), z.looseObject({ seen: z.looseObject({}).optional() })),
})

/**
 * The text of a quote file in which chains have a day at `seen.onChain`, and which is otherwise the same to the byte.
 * Chains without `seen` stay as they are: nobody said what should be watched there.
 * @param keys of chains @param day ISO 8601 @throws CommandError where the file is written so that no day fits in
 */
export function dateChains(text: string, keys: readonly string[], day: string): string {
  return keys.reduce((before, key) => dateChain(before, key, day), text)
}

function dateChain(text: string, key: string, day: string): string {
  const file = datedFile.parse(JSON.parse(text))
  const chain = file.chains[key]
  if (chain?.seen === undefined) return text
  const dated = { ...chain, seen: { ...chain.seen, onChain: day } }
  const expected = { ...file, chains: { ...file.chains, [key]: dated } }
  // A name may stand elsewhere as well: the place is the one that makes what is wanted.
  for (const { index } of text.matchAll(new RegExp(`"${key}"\\s*:\\s*\\{`, 'g'))) {
    const [, head = '', members = ''] = /^([\s\S]*?"seen"\s*:\s*\{)([^{}]*)\}/.exec(text.slice(index)) ?? []
    const from = index + head.length
    const candidate = `${text.slice(0, from)}${withDay(members, day)}${text.slice(from + members.length)}`
    if (isDeepStrictEqual(tryParse(candidate), expected)) return candidate
  }
  throw new CommandError(
    `Write "onChain": "${day}" into seen of ${key} by hand: the file is not written as usual.`,
  )
}

function withDay(members: string, day: string): string {
  const datePattern = /("onChain"\s*:\s*)"[^"]*"/
  if (datePattern.test(members)) return members.replace(datePattern, `$1"${day}"`)
  const indent = /^\s*/.exec(members)?.[0] ?? ''
  return members.replace(/(\s*)$/, `,${indent}"onChain": "${day}"$1`)
}

/** `undefined` for what is no JSON. */
function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
