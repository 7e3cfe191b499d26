// Goal: what calls would deposit is what enough endpoints say, in every part that decides. Attacker: one of the endpoints,
// which says that another token is deposited, of the same amount for the same order.
import type { Hex } from '@causeway/core'
import type { RpcAnswer } from '@causeway/rpc'
import { expect, test } from 'vitest'
import { tryCalls } from './tryCalls.ts'

const accounts = (byte: string): Hex => `0x${byte.repeat(20)}`
const word = (digits: string) => digits.padStart(64, '0')
const id = 'ab'.repeat(32)

/** A node's answer to calls that deposit 5 of a token. */
const answerOf = (token: Hex): RpcAnswer => {
  const data = `0x${word('11'.repeat(20))}${word(token.slice(2))}${word('5')}${id}`
  const topics = ['0x49fed1d0b752ce30eee63c7a81133f3363b532fec5d4d7dd1ccfd005de4555e1']
  const logs = [{ address: accounts('d0'), topics, data }]
  return { ok: true, result: [{ calls: [{ status: '0x1', gasUsed: '0x5208', logs }] }] }
}

test('Q-198: endpoints that name different tokens do not say the same', async () => {
  const said: unknown[] = []
  const deposits = await tryCalls(
    {
      chainId: 'base',
      agree: async (_calls, { project = () => undefined } = {}) => {
        const answers = [answerOf(accounts('70'))]
        said.push(project(answers), project([answerOf(accounts('71'))]), project(answers))
        return { answers, agreeingEndpoints: ['one', 'two'] }
      },
    },
    {
      from: accounts('33'),
      multicall3: accounts('ca'),
      depository: accounts('d0'),
      to: accounts('11'),
      data: '0x',
      delegations: [],
    },
  )
  expect(deposits).toMatchObject({ succeeds: true, deposits: [{ currency: accounts('70'), amount: 5n }] })
  expect(said[0]).toEqual(said[2])
  expect(said[0]).not.toEqual(said[1])
})
