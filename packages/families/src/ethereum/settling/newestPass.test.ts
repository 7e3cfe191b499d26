// Goal: head and blocks that are asked for together are those that a quorum would give one after the other. Attackers:
// an endpoint that is behind, one that leaves a log out, one that names no block.
import type { Hex } from '@causeway/core'
import type { PollOptions, RpcAnswer } from '@causeway/rpc'
import { expect, test } from 'vitest'
import type { NewestPass } from '../../shared/settlingChain.ts'
import { askNewestPass } from './newestPass.ts'

const hex = (digits: string): Hex => `0x${digits.padStart(64, '0')}`
const places = { depository: `0x${'d0'.repeat(20)}`, depositRouter: undefined, tokens: [] }
const ok = (result: unknown): RpcAnswer => ({ ok: true, result })
const refusal: RpcAnswer = { ok: false, code: -32_005, message: 'query returned more than 10000 results' }

const block = (number: number) =>
  ok({ number: `0x${number.toString(16)}`, hash: hex(`b${number}`), parentHash: hex('0'), timestamp: '0x1' })
const log = (number: number) => ({
  blockNumber: `0x${number.toString(16)}`,
  transactionIndex: '0x0',
  transactionHash: hex(`${number}`),
})
/** An endpoint at a height, with a deposit in each of the named blocks. */
const at = (height: number, ...deposits: readonly number[]) => [
  block(8),
  block(height),
  ok(deposits.map(log)),
]

/** Asks endpoints that answer in this order. @returns the outcome, and how many answers it took */
async function ask(answers: readonly (readonly RpcAnswer[] | undefined)[], threshold: number) {
  const malformed: string[] = []
  const voters = answers.map((_, index) => ({ alias: `e${index}`, voice: `v${index}` }))
  let heard = 0
  const poll = async <Outcome>(_calls: unknown, { decide, onHeard }: PollOptions<Outcome>) => {
    const all = voters.map((voter, index) => ({ ...voter, value: answers[index] }))
    onHeard?.(all)
    for (heard = 1; heard <= all.length; heard += 1) {
      const outcome = decide(all.slice(0, heard), heard === all.length)
      if (outcome !== undefined) return outcome
    }
    throw new Error('nobody names a head')
  }
  const outcome: NewestPass = await askNewestPass(
    { electorate: { voters, threshold }, poll },
    places,
    { known: 8n, from: 6n },
    { threshold, signal: new AbortController().signal, onMalformed: (alias) => malformed.push(alias) },
  )
  return { head: outcome.head, transactions: outcome.pass?.transactions, heard, malformed }
}

test('one endpoint tells its head and what stands in the blocks up to it', async () => {
  expect(await ask([at(9, 7, 9)], 1)).toMatchObject({ head: 9n, transactions: [hex('7'), hex('9')] })
})

test('a log of a block that came meanwhile is left to the next scan', async () => {
  expect(await ask([at(9, 9, 10)], 1)).toMatchObject({ head: 9n, transactions: [hex('9')] })
})

test('as many endpoints as must agree decide, without the others', async () => {
  expect(await ask([at(9, 9), at(9, 9), undefined], 2)).toMatchObject({ head: 9n, heard: 2 })
})

test.each([
  ['all show different heads', [at(9), at(10, 10), at(11, 10)], 10n],
  ['the blocks of one are refused', [at(9, 9), [block(8), block(9), refusal], undefined], 9n],
  ['one leaves a log out', [at(9, 9), at(9), undefined], 9n],
])('the head that a quorum has reached is told alone where %s', async (_, answers, head) => {
  expect(await ask(answers, 2)).toMatchObject({ head, transactions: undefined })
})

test('one that shows another list of the same blocks is left to an ordinary scan, which notes it', async () => {
  expect(await ask([at(9), at(9, 9), at(9, 9)], 2)).toMatchObject({ head: 9n, transactions: undefined })
})

test('where one of three is enough, the highest of all heads counts', async () => {
  expect(await ask([at(9, 9), at(10, 10), at(9, 9)], 1)).toMatchObject({ head: 10n })
})

test('an endpoint whose block cannot be read is named, and has no vote', async () => {
  const broken = [block(8), ok({ number: 'nine' }), ok([])]
  expect(await ask([broken, at(9), at(9)], 2)).toMatchObject({ head: 9n, malformed: ['e0'] })
})

test('without enough heads there is none', async () => {
  await expect(ask([at(9), undefined], 2)).rejects.toThrow('nobody names a head')
})
