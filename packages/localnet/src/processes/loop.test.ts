import { describe, expect, it } from 'vitest'
import { startLoop } from './loop.ts'

/** A round that the test lets happen, one by one. */
function steppedRounds(outcomes: readonly ('good' | 'bad')[]) {
  let rounds = 0
  let tellDone: () => void = () => {}
  const done = new Promise<void>((resolve) => {
    tellDone = resolve
  })
  const run = async () => {
    const outcome = outcomes[rounds]
    rounds += 1
    if (rounds === outcomes.length) tellDone()
    if (outcome === 'bad') throw new Error('node is away\nwith details')
  }
  return { run, done, rounds: () => rounds }
}

describe('startLoop', () => {
  it('goes on after failures and reports each change once', async () => {
    const stepped = steppedRounds(['good', 'bad', 'bad', 'good', 'good', 'bad', 'good', 'good'])
    const lines: string[] = []
    const loop = startLoop({ everyMs: 1, run: stepped.run, report: (line) => lines.push(line) })
    await stepped.done
    await loop.stop()
    expect(lines).toEqual(['fails: node is away', 'works again', 'fails: node is away', 'works again'])
  })

  it('begins no round after it was stopped', async () => {
    const stepped = steppedRounds(['good', 'good'])
    const loop = startLoop({ everyMs: 1, run: stepped.run, report: () => {} })
    await stepped.done
    await loop.stop()
    const after = stepped.rounds()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(stepped.rounds()).toBe(after)
  })

  it('waits for the round under way', async () => {
    let isFinished = false
    let tellBegun: () => void = () => {}
    const begun = new Promise<void>((resolve) => {
      tellBegun = resolve
    })
    const run = async () => {
      tellBegun()
      await new Promise((resolve) => setTimeout(resolve, 30))
      isFinished = true
    }
    const loop = startLoop({ everyMs: 10_000, run, report: () => {} })
    await begun
    await loop.stop()
    expect(isFinished).toBe(true)
  })

  it('does not wait for ever for a round that hangs', async () => {
    const loop = startLoop({ everyMs: 1, run: () => new Promise(() => {}), report: () => {} })
    await expect(loop.stop()).resolves.toBeUndefined()
  })
})
