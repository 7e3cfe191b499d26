// Goal: a price waits for nothing that is in memory, and for each question to a chain once; those that are known together
// are asked together. Adversary: a chain that answers late, in another order, with an error, or never the same twice.
import { setTimeout as pause } from 'node:timers/promises'
import type { MaybePromise } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { askingEarly, defineQuestions, gather } from './answers.ts'

type Ports = { readonly double: (amount: number) => MaybePromise<number> }
const withAnswers = defineQuestions<Ports>({ double: (amount) => [amount] })

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
    expect(
      withAnswers({ double: (amount) => 2 * amount }, (answers) => answers.double(answers.double(1))),
    ).toBe(4)
  })

  test('runs until none is missing, and asks each question once', async () => {
    const chain = slowChain()
    let runs = 0
    const result = withAnswers(chain, (answers) => {
      runs += 1
      return answers.double(1) + answers.double(1) + answers.double(5)
    })
    expect(await result).toBeCloseTo(2.1 + 2.1 + 10.1)
    expect(chain.asked).toEqual([1, 5])
    expect(runs).toBe(3)
  })

  test('throws its own error at once, and a late one by rejecting', async () => {
    const fails = () => {
      throw new Error('mine')
    }
    expect(() => withAnswers({ double: () => 1 }, fails)).toThrow('mine')
    const after = withAnswers(slowChain(), (answers) => (answers.double(1) > 0 ? fails() : fails()))
    await expect(after).rejects.toThrow('mine')
  })

  test('gets the error of a question, and may go on without the answer', async () => {
    const ports = { double: () => Promise.reject(new Error('no chain')) }
    const orNone = withAnswers(ports, (answers) => {
      try {
        return answers.double(1)
      } catch (error) {
        if (error instanceof Error && error.message === 'no chain') return undefined
        throw error
      }
    })
    expect(await orNone).toBeUndefined()
    await expect(withAnswers(ports, (answers) => answers.double(1))).rejects.toThrow('no chain')
  })
})

describe('questions that are known together', () => {
  test('are asked together', async () => {
    const chain = slowChain()
    const sum = withAnswers(chain, (answers) => {
      const [one, two] = gather(
        () => answers.double(1),
        () => answers.double(2),
      )
      return one + two
    })
    expect(chain.asked).toEqual([1, 2])
    expect(await sum).toBeCloseTo(6.2)
  })

  test('Q-180: are refused in their order, whichever answer comes first', async () => {
    const chain = slowChain()
    const refuse = (why: string) => () => {
      throw new Error(why)
    }
    const second = withAnswers(chain, (answers) => gather(() => answers.double(1), refuse('second')))
    await expect(second).rejects.toThrow('second')
    const lateRefusal = (answers: { readonly double: (amount: number) => number }) => () =>
      answers.double(2) > 0 ? refuse('first')() : 0
    const first = withAnswers(chain, (answers) => gather(lateRefusal(answers), refuse('second')))
    await expect(first).rejects.toThrow('first')
    expect(() => withAnswers(chain, (answers) => gather(refuse('first'), () => answers.double(3)))).toThrow(
      'first',
    )
  })

  test.each([
    ['those of later steps too, where an answer is missing', slowChain(), [1, 7]],
    ['none ahead where nothing is missing', { asked: [], double: () => 2 }, []],
  ])('are asked early: %s', async (_which, chain, asked) => {
    await withAnswers(chain, (answers) =>
      askingEarly(
        () => answers.double(1),
        () => [() => answers.double(7)],
      ),
    )
    expect(chain.asked).toEqual(asked)
  })
})
