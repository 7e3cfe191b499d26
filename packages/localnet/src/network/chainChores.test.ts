import { describe, expect, it } from 'vitest'
import { afterSaving, type ChainProgress, chainChores } from './chainChores.ts'

const quiet: ChainProgress = { headBlock: 10n, lastTransactionBlock: 4n, savedBlock: 10n, savedAtMs: 0 }
const look = { newTransactionBlock: undefined, nowMs: 1_000 }

describe('chainChores', () => {
  it('leaves an idle chain alone', () => {
    expect(chainChores(quiet, { ...look, headBlock: 10n })).toMatchObject({ mine: false, save: false })
  })

  it('mines until a transaction has two blocks on top of it', () => {
    const first = chainChores(quiet, { ...look, headBlock: 11n, newTransactionBlock: 11n })
    expect(first.mine).toBe(true)
    const second = chainChores(first.progress, { ...look, headBlock: 12n })
    expect(second.mine).toBe(true)
    expect(chainChores(second.progress, { ...look, headBlock: 13n }).mine).toBe(false)
  })

  it('saves once what a transaction changed', () => {
    const seen = chainChores(quiet, { ...look, headBlock: 11n, newTransactionBlock: 11n })
    expect(seen.save).toBe(true)
    const saved = afterSaving(seen.progress, 1_000)
    expect(chainChores(saved, { ...look, headBlock: 12n }).save).toBe(false)
  })

  it('tries to save again when saving failed', () => {
    const { progress } = chainChores(quiet, { ...look, headBlock: 11n, newTransactionBlock: 11n })
    expect(chainChores(progress, { ...look, headBlock: 11n }).save).toBe(true)
  })

  it('saves empty blocks rarely', () => {
    expect(chainChores(quiet, { ...look, headBlock: 12n, nowMs: 14_999 }).save).toBe(false)
    expect(chainChores(quiet, { ...look, headBlock: 12n, nowMs: 15_000 }).save).toBe(true)
    expect(chainChores(quiet, { ...look, headBlock: 10n, nowMs: 99_000 }).save).toBe(false)
  })

  it('takes a head that fell for another history, saved or not', () => {
    const { mine, save, progress } = chainChores(quiet, { ...look, headBlock: 7n })
    expect({ mine, save, last: progress.lastTransactionBlock }).toEqual({ mine: true, save: true, last: 7n })
    const later = chainChores(progress, { ...look, headBlock: 9n })
    expect({ mine: later.mine, save: later.save }).toEqual({ mine: false, save: true })
  })

  it('saves a chain that it sees for the first time', () => {
    const first: ChainProgress = {
      headBlock: 3n,
      lastTransactionBlock: undefined,
      savedBlock: -1n,
      savedAtMs: 0,
    }
    expect(chainChores(first, { ...look, headBlock: 3n, nowMs: 15_000 }).save).toBe(true)
  })
})
