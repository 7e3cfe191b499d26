// Goal: a day is written into a quote file, and nothing else changes in it. Attack: a chain whose name stands elsewhere,
// or that has no dated facts, so that another chain would get the day.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dateChains } from './dateChains.ts'

const shipped = readFileSync(
  new URL('../../../../../configs/quote.mainnets.prod.json', import.meta.url),
  'utf8',
)
const undated = (text: string) => text.replaceAll(/,\s*"onChain": "[-0-9]*"/g, '')
const seenOf = (text: string, key: string) => JSON.parse(text).chains[key].seen

test('F-112: the day stands at its chain alone, and once, however often it is written', () => {
  const once = dateChains(shipped, ['base', 'solana'], '2026-11-28')
  expect(seenOf(once, 'base')).toEqual({ ...seenOf(shipped, 'base'), onChain: '2026-11-28' })
  expect(seenOf(once, 'solana')).toEqual({ ...seenOf(shipped, 'solana'), onChain: '2026-11-28' })
  expect(once).toContain('\n        "onChain": "2026-11-28"\n')
  expect(undated(once)).toBe(undated(shipped))
  const again = dateChains(once, ['base', 'solana'], '2026-11-29')
  expect(again).toBe(once.replaceAll('2026-11-28', '2026-11-29'))
})

test('F-112: a chain without dated facts, and one whose name stands elsewhere, give their day to no other', () => {
  const text = `{ "about": { "b": { "seen": {"on":"2026-01-01"} } },
    "chains": { "a": { "chainId": 1 }, "b": { "seen": {"on":"2026-01-01"}, "chainId": 2 } } }`
  expect(dateChains(text, ['a'], '2026-11-28')).toBe(text)
  const dated = JSON.parse(dateChains(text, ['b'], '2026-11-28'))
  expect([dated.about.b.seen, dated.chains.b.seen]).toEqual([
    { on: '2026-01-01' },
    { on: '2026-01-01', onChain: '2026-11-28' },
  ])
})
