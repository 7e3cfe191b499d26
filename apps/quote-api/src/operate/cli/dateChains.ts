import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { CommandError } from './commandError.ts'

const datedFile = z.looseObject({
  chains: z.record(z.string(), z.looseObject({ seen: z.looseObject({}).optional() })),
})

/**
 * Sets `seen.onChain` of chains to a day in the text of a quote file, and changes no other byte. Chains without `seen`
 * stay as they are, because the file says nothing to watch there.
 * @param keys of chains @param day ISO 8601 @throws CommandError if the file is written so that the place is not found
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
  // The key may also occur elsewhere in the file: the right place is the one that gives the expected file.
  for (const { index } of text.matchAll(new RegExp(`"${key}"\\s*:\\s*\\{`, 'g'))) {
    const [, opening = '', members = ''] =
      /^([\s\S]*?"seen"\s*:\s*\{)([^{}]*)\}/.exec(text.slice(index)) ?? []
    const start = index + opening.length
    const end = start + members.length
    const candidate = `${text.slice(0, start)}${withDay(members, day)}${text.slice(end)}`
    if (isDeepStrictEqual(tryParse(candidate), expected)) return candidate
  }
  throw new CommandError(
    `Write "onChain": "${day}" into seen of ${key} by hand: the file is not written as usual.`,
  )
}

/** The members of `seen` with the day replaced, or appended in the same layout. */
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
