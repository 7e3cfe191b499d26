// Goal: a price waits for nothing that is in memory, and for each question to a chain once; those that are known together
// are asked together. Adversary: a chain that answers late, in another order, with an error, or never the same twice.
import { setTimeout as pause } from 'node:timers/promises'
import type { MaybePromise } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { askingEarly, gather, type QuestionWords, withAnswers } from './answers.ts'

type Ports = { readonly double: (amount: number) => MaybePromise<number> }
const words: QuestionWords<Ports> = { double: (amount) => [amount] }

/** A chain that answers after some turns; no two answers to the same question are alike. */
function slowChain() {
  const asked: number[] = []
  const double = async (amount: number) => {
    asked.push(amount)
    await pause(1)
    return 2 * amount + asked.filter((each) => each === amount).length / 10
  }
  return { asked, double }
}

describe('a rule over answers', () => {
  test('has its result at once where each answer is there', () => {
    expect(withAnswers(words, { double: (amount) => 2 * amount }, ({ double }) => double(double(1)))).toBe(4)
  })

  test('runs until none is missing, and asks each question once', async () => {
    const chain = slowChain()
    let runs = 0
    const result = withAnswers<Ports, number>(words, chain, ({ double }) => {
      runs += 1
      return double(1) + double(1) + double(5)
    })
    expect(await result).toBeCloseTo(2.1 + 2.1 + 10.1)
    expect(chain.asked).toEqual([1, 5])
    expect(runs).toBe(3)
  })

  test('throws its own error at once, and a late one by rejecting', async () => {
    const fails = () => {
      throw new Error('mine')
    }
    expect(() => withAnswers<Ports, never>(words, { double: () => 1 }, fails)).toThrow('mine')
    const after = withAnswers<Ports, never>(words, slowChain(), ({ double }) =>
      double(1) > 0 ? fails() : fails(),
    )
    await expect(after).rejects.toThrow('mine')
  })

  test('gets the error of a question, and may go on without the answer', async () => {
    const ports = { double: () => Promise.reject(new Error('no chain')) }
    const orNone = withAnswers<Ports, number | undefined>(words, ports, ({ double }) => {
      try {
        return double(1)
      } catch (error) {
        if (error instanceof Error && error.message === 'no chain') return undefined
        throw error
      }
    })
    expect(await orNone).toBeUndefined()
    await expect(withAnswers<Ports, number>(words, ports, ({ double }) => double(1))).rejects.toThrow(
      'no chain',
    )
  })
})

describe('questions that are known together', () => {
  test('are asked together', async () => {
    const chain = slowChain()
    const sum = withAnswers<Ports, number>(words, chain, ({ double }) => {
      const [one, two] = gather(
        () => double(1),
        () => double(2),
      )
      return one + two
    })
    expect(chain.asked).toEqual([1, 2])
    expect(await sum).toBeCloseTo(6.2)
  })

  test('are refused by the first that refuses, though another is missing', () => {
    const refuse = () => {
      throw new Error('refused')
    }
    const all = () =>
      withAnswers<Ports, unknown>(words, slowChain(), ({ double }) => gather(() => double(1), refuse))
    expect(all).toThrow('refused')
  })

  test.each([
    ['those of later steps too, where an answer is missing', slowChain(), [1, 7]],
    ['none ahead where nothing is missing', { asked: [], double: () => 2 }, []],
  ])('are asked early: %s', async (_which, chain, asked) => {
    await withAnswers<Ports, number>(words, chain, ({ double }) =>
      askingEarly(
        () => double(1),
        () => [() => double(7)],
      ),
    )
    expect(chain.asked).toEqual(asked)
  })
})
